"""The table of forms says the same as the lexicon that it was made from."""

from __future__ import annotations

from pathlib import Path

from shipped import lexicon_of

from prasanga.base.io import write_table
from prasanga.lexicon import forms_table
from prasanga.sentences import Matcher, read_forms


def test_a_table_says_the_same_as_its_lexicon_with_neighbours_or_without(tmp_path: Path) -> None:
    lexicon = lexicon_of("bn")
    write_table(tmp_path / "forms.parquet", forms_table(lexicon), {})
    forms = read_forms(tmp_path / "forms.parquet")
    assert {form: set(names) for form, names in forms.claims().items()} == {
        form: set(names) for form, names in lexicon.claims().items()
    }
    text = "মায়ের গোলাপগুলোতে মা-কে দেখে ফড়িঙের কথা মনে পড়ে।"
    assert Matcher(forms).find(text) == Matcher(lexicon).find(text)
    assert forms.neighbours == lexicon.neighbours
    text = "না ভাই, আমার ভাই ছুটিতে ছুটিতে বাড়িতেই গেল, আর ভিড় বাড়িতে লাগিল; বেলা বাড়িতেই লাগল। কলের বাঁশিটা আর বাঁশির সুর।"
    found = [match.form for match in Matcher(forms).find(text)]
    assert found == ["ভাই", "বাড়িতেই", "বাঁশির"]
    ignored = read_forms(tmp_path / "forms.parquet", neighbours=False)
    assert ignored.neighbours == {}
    found = [match.form for match in Matcher(ignored).find(text)]
    assert found == ["ভাই", "ভাই", "ছুটিতে", "ছুটিতে", "বাড়িতেই", "বাড়িতে", "বাড়িতেই", "বাঁশিটা", "বাঁশির"]
