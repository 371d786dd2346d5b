import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from papermill.cli import _resolve_type
from ruamel.yaml import YAML

from seam_lib.core.errors import SeamError
from seam_lib.core.params import check_name, find_root, load_params


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


# --- Names ----------------------------------------------------------------------------------------

GOOD = ["embedded", "qwen3-8b", "4o-mini", "2026-qwen", "Llama_3", "x", "e5", "try-x", "a" * 100]
VALUES = [
    "2026", "1e5", "1e6", "0x1F", "0o17", "08", "1_000", "1.5", "nan", "inf", "Infinity", "off",
    "no", "Yes", "true", "null", "None", "True", "2026-01-01", "2026-13-45", 2026, 1e5, False, None,
]  # fmt: skip
PATHS = [
    "", ".", "..", "a/b", "../a", "/etc/passwd", "a\\b", "C:a", "a..b", "a.", ".a", "-a", "_a",
    "-1", ".5", "~", "a b", " a", "a\n",
    "x$(date)", "`x`", "a;b", "a*", "a@b", "ünï", "a\x00b", "a#b",
    "{a}", "a" * 101,
]  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_a_plain_name_is_let_through(name):
    assert check_name(name, "runs", dots=False) == name


@pytest.mark.parametrize("name", VALUES)
def test_a_name_that_something_reads_as_a_value_is_refused_with_the_remedy(name):
    with pytest.raises(SeamError, match=r"^runs: .*Add a word to it, such as run-2026"):
        check_name(name, "runs")


@pytest.mark.parametrize("name", PATHS)
def test_a_name_that_is_no_file_s_is_refused_with_the_remedy(name):
    with pytest.raises(SeamError, match=r"^wild.name: .*(Take letters|Shorten it)"):
        check_name(name, "wild.name")


def test_only_keys_of_params_may_hold_no_dots():
    assert check_name("try-llama-3.1-8b", "--name") == "try-llama-3.1-8b"
    with pytest.raises(SeamError, match=r"DVC reads the dots .* Write 'qwen2-5-7b'"):
        check_name("qwen2.5-7b", "runs", dots=False)


@given(st.text(st.sampled_from("0123456789abcdefinoxyEN+-._~")) | st.text())
def test_what_is_let_through_is_text_to_every_reader(name):
    try:
        check_name(name, "runs")
    except SeamError:
        return
    assert yaml.safe_load(name) == YAML(typ="safe").load(name) == _resolve_type(name) == name


def with_params(root, tmp_path, change):
    """A project whose params.yaml is ours, changed."""
    params = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    change(params)
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    return tmp_path


RUN = {"benchmark": "embedded", "provider": "openai", "model": "m"}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda p: p["runs"].update({"qwen2.5-7b": RUN}), "runs: DVC reads the dots"),
        (lambda p: p["runs"].update({"2026": RUN}), "runs: .*read '2026' as a number"),
        (lambda p: p["runs"].update({2026: RUN}), "runs: .*read 2026 as a number"),
        (lambda p: p["runs"].update({False: RUN}), "runs: .*read False as a number"),
        (lambda p: p["runs"].update({"../x": RUN}), "runs: '../x' cannot be a file's name"),
        (lambda p: p["runs"]["embedded"].update(benchmark="/tmp"), "benchmark: '/tmp' cannot"),
        (lambda p: p["runs"]["embedded"].update(benchmark=7), r"runs.*put it in quotes"),
        (lambda p: p["build"].update(name="1e5"), "build.name: .*read '1e5' as a number"),
        (lambda p: p["build"].update(name=2026), r"build.name.*put it in quotes"),
        (lambda p: p["wild"].update(name=".."), "wild.name: '..' cannot be a file's name"),
    ],
)
def test_a_name_is_refused_when_params_is_loaded(root, tmp_path, change, complaint):
    with pytest.raises(SeamError, match=rf"params\.yaml: .*{complaint}"):
        load_params(with_params(root, tmp_path, change))


@pytest.mark.parametrize("runs", [None, [], "x"])
def test_runs_that_are_no_mapping_are_told_as_such(root, tmp_path, runs):
    with pytest.raises(SeamError, match=r"Expected `object`.*runs"):
        load_params(with_params(root, tmp_path, lambda params: params.update(runs=runs)))


def test_a_bare_off_is_off(root, tmp_path):
    text = (root / "params.yaml").read_text(encoding="utf-8")
    assert 'nli: "off"' in text
    (tmp_path / "params.yaml").write_text(text.replace('nli: "off"', "nli: off"), encoding="utf-8")
    assert load_params(tmp_path).score.nli == "off"
