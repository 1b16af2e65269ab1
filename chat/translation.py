"""Which columns are kept once per language."""

from modeltranslation.translator import TranslationOptions, register

from chat.models import Agent, Example, Provider, ToolSetting


@register(Provider)
class ProviderTranslation(TranslationOptions):
    fields = ("name",)


@register(Agent)
class AgentTranslation(TranslationOptions):
    fields = ("name", "description", "system_prompt")


@register(Example)
class ExampleTranslation(TranslationOptions):
    fields = ("title", "text")


@register(ToolSetting)
class ToolSettingTranslation(TranslationOptions):
    fields = ("name", "description")
