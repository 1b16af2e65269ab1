"""The models of a provider on its page: those that are switched on, where there are hundreds."""

from typing import Any, Final

from chat.admin.plain_widgets import NamedFields, PlainTable
from chat.models import LanguageModel

# So many stand on the page of their provider; a form takes a thousand fields at most.
MOST: Final = 50


class OfferedModels(NamedFields):
    """All models of a provider, or of very many the first that are switched on. What a browser
    sends back may be any of them."""

    def get_queryset(self) -> Any:
        rows: Any = super().get_queryset()
        if self.is_bound or self.all_count <= MOST:
            return rows
        if not hasattr(self, "_shown"):
            keys = list(rows.filter(enabled=True).values_list("pk", flat=True)[:MOST])
            self._shown = rows.filter(pk__in=keys)
        return self._shown

    @property
    def all_count(self) -> int:
        if not hasattr(self, "_all_count"):
            provider = self.instance
            self._all_count = 0 if provider._state.adding else provider.models.count()
        return self._all_count


class ModelTable(PlainTable):
    model = LanguageModel
    formset = OfferedModels
    template = "admin/chat/provider/models.html"
    fields = ("model_id", "label", "context_window", "native_tools", "vision", "enabled")
    extra = 0
    show_change_link = True
