"""The ASGI application: pages over HTTP, conversations over WebSocket."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatsite.settings")
# Django must be set up before anything that imports models.
django.setup(set_prefix=False)

from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import OriginValidator  # noqa: E402
from django.conf import settings  # noqa: E402
from django.core.asgi import get_asgi_application  # noqa: E402

from chat.checks import refuse_unsafe_start  # noqa: E402
from chat.routing import websocket_urlpatterns  # noqa: E402
from chat.services import lifecycle  # noqa: E402
from chat.tongues import warm_up  # noqa: E402
from chatsite.lifespan import Lifespan  # noqa: E402

# Servers that import this module run no system checks of their own.
refuse_unsafe_start()

lifespan = Lifespan(startup=(lifecycle.start, warm_up), shutdown=(lifecycle.stop,))
lifespan.attach_to_reactor()

application = ProtocolTypeRouter(
    {
        "http": get_asgi_application(),
        # Full origins, not host names: another port of this host is another program.
        "websocket": OriginValidator(
            AuthMiddlewareStack(URLRouter(websocket_urlpatterns)), settings.ORIGINS
        ),
        "lifespan": lifespan,
    }
)
