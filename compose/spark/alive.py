"""Exit 0 when the Spark master at the given address counts a worker as alive, or as many as are asked for."""

import json
import sys
import urllib.request

wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 1
with urllib.request.urlopen(sys.argv[1], timeout=3) as answer:
    sys.exit(0 if json.load(answer)["aliveworkers"] >= wanted else 1)
