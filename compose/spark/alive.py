"""Exit 0 when the Spark master at the given address counts a worker as alive."""

import json
import sys
import urllib.request

with urllib.request.urlopen(sys.argv[1], timeout=3) as answer:
    sys.exit(0 if json.load(answer)["aliveworkers"] else 1)
