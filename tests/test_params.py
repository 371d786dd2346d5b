import msgspec
import pytest

from seam_lib.core.errors import SeamError
from seam_lib.core.params import find_root, load_params


def edited(root, tmp_path, old, new):
    """A project whose params.yaml is ours with one edit."""
    text = (root / "params.yaml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "params.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
    return tmp_path


def test_the_committed_file_is_valid(root):
    params = load_params(root)
    assert (root / params.published.labels).is_file()
    assert params.analysis.bootstrap_seed == 42  # the published intervals were drawn with it


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("bootstrap_draws:", "bootstrap_drawz:", "bootstrap_drawz"),
        ("  bootstrap_seed: 42\n", "", "bootstrap_seed"),
        ("bootstrap_draws: 10000", "bootstrap_draws: many", "Expected `int`, got `str`"),
        ("bootstrap_draws: 10000", "bootstrap_draws: 10.5", "Expected `int`, got `float`"),
        ("bootstrap_draws: 10000", "bootstrap_draws: 0", "`int` >= 1"),
        ("bootstrap_seed: 42", "bootstrap_seed: -1", "`int` >= 0"),
        ("bootstrap_seed: 42", "bootstrap_seed: 4294967296", "`int` <= 4294967295"),
        ("permutations: 10000", "permutations: -5", "`int` >= 1"),
        ("published:\n", "publisht:\n", "publisht"),
        ("labels: data/published/labels.csv", "labels: [a, b]", "Expected `str`, got `array`"),
    ],
)
def test_a_wrong_key_or_value_is_named(root, tmp_path, old, new, complaint):
    with pytest.raises(SeamError) as caught:
        load_params(edited(root, tmp_path, old, new))
    message = str(caught.value)
    assert str(tmp_path / "params.yaml") in message
    assert complaint in message
    assert "Compare with the comments" in message


@pytest.mark.parametrize("content", [b"", b"- 1\n", b"a: [\n", b"a: \xff\n", b"a: \x00\n"])
def test_a_file_that_is_no_mapping_in_yaml_is_an_error_that_names_it(tmp_path, content):
    (tmp_path / "params.yaml").write_bytes(content)
    with pytest.raises(SeamError, match=r"params\.yaml"):
        load_params(tmp_path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(SeamError, match=r"params\.yaml"):
        load_params(tmp_path)


def test_the_project_is_found_from_any_folder_in_it(root):
    assert find_root(root / "paper" / "tables") == root
    assert find_root(root) == root


def test_outside_a_project_the_folder_and_the_remedy_are_named(tmp_path):
    (tmp_path / "params.yaml").touch()  # alone it makes no project
    with pytest.raises(SeamError, match=f"{tmp_path}: not inside a SEAM project. Change"):
        find_root(tmp_path)


def test_only_the_embedded_model_is_spoken_of_with_caution(root):
    settings = load_params(root).runs["embedded"]
    assert settings.provider == "llamacpp"
    assert settings.caution.startswith("The embedded model serves to run the whole pipeline")
    assert msgspec.structs.replace(settings, provider="openai").caution == ""
