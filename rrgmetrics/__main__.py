"""`python -m rrgmetrics`."""

import sys

from rrgmetrics.cli import main

sys.exit(main())
