"""What tests of the agent cannot do without; importing it skips a module where it is missing."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'navaudit[learn]'")
