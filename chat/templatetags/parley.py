"""Template tags: thin, the work is done in chat/rendering."""

from django import template

from chat.rendering.icons import icon_html
from chat.rendering.page.list_cells import labelled

register = template.Library()

register.simple_tag(icon_html, name="icon")
register.filter(labelled)
