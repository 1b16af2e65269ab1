"""Django's model form, with the model it is for in brackets: `ModelForm[Profile]`.

The type checker knows Django's form that way; Django itself refuses the brackets.
"""

from typing import TYPE_CHECKING

from django import forms

if TYPE_CHECKING:
    ModelForm = forms.ModelForm
else:

    class ModelForm(forms.ModelForm):
        def __class_getitem__(cls, model):
            return cls
