"""The ASGI application: pages over HTTP, conversations over WebSocket."""

import os
import sys

import django

# Servers that import this module have not come through our command line.
os.umask(0o077)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatsite.settings")
# Django must be set up before anything that imports models.
django.setup(set_prefix=False)

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import OriginValidator  # noqa: E402
from django.conf import settings  # noqa: E402
from django.core.asgi import get_asgi_application  # noqa: E402

from chat import services  # noqa: E402
from chat.checks import refuse_unsafe_start  # noqa: E402
from chat.consumers.drawing import warm_up  # noqa: E402
from chat.routing import websocket_urlpatterns  # noqa: E402
from chatsite.bodies import bounded  # noqa: E402
from chatsite.crowd import in_order  # noqa: E402
from chatsite.health import refuse_unfit_database  # noqa: E402
from chatsite.lifespan import Lifespan, keep_what_is_loaded  # noqa: E402

# Servers that import this module run no system checks of their own.
refuse_unsafe_start()
if other := services.serve_alone():
    sys.exit(f"Parley cannot start: {other}")

lifespan = Lifespan(
    startup=(refuse_unfit_database, services.start_process, warm_up, keep_what_is_loaded),
    shutdown=(services.stop_process,),
    # Until the last socket is gone, it is told what goes on elsewhere, and its view points to the
    # process.
    last=(services.close_layer, services.retire),
)
lifespan.attach_to_reactor()

application = ProtocolTypeRouter(
    {
        "http": lifespan.awaited(bounded(in_order(get_asgi_application()))),
        # Full origins, not host names: another port of this host is another program.
        "websocket": OriginValidator(URLRouter(websocket_urlpatterns), settings.ORIGINS),
        "lifespan": lifespan,
    }
)
