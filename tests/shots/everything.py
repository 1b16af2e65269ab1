"""A row of everything beside the people of `tests.shots.seed`: `python -m tests.shots.everything`.

For whoever looks at every page of the administration; with the settings of its server.
"""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatsite.settings")

import django

django.setup()

from chat.models import ToolSetting  # noqa: E402
from tests.support import factories as make  # noqa: E402
from tests.support.world import one_of_everything  # noqa: E402

if __name__ == "__main__":
    # The first start has made one of each tool.
    ToolSetting.objects.filter(tool="calculator").delete()
    one_of_everything(make.a_user("olivia"))
