"""The page as it is served: nothing from elsewhere, nobody from elsewhere, everybody their own picture."""

from __future__ import annotations

import concurrent.futures
import pathlib
import re
import urllib.error
import urllib.request
from typing import Any, Dict, Iterator, List, Tuple

import numpy as np
import pytest
from PIL import Image

from tests.data import odd_files as odd
from tests.web.conftest import Served
from ugatit.web.upload import Upload

gradio_client = pytest.importorskip('gradio_client')
pytest.importorskip('gradio')

pytestmark = pytest.mark.filterwarnings('ignore::DeprecationWarning:gradio.*')
SETTINGS = ('crop', 'off')


def _ask(url: str, **headers: str) -> Tuple[int, Dict[str, str], str]:
    request = urllib.request.Request(url, headers=headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=20) as answer:
            return answer.status, dict(answer.headers), answer.read().decode('utf-8', 'replace')
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), ''


@pytest.fixture
def client(served: Served, tmp_path: pathlib.Path) -> Iterator[Any]:
    yield gradio_client.Client(served.address, verbose=False, download_files=str(tmp_path / 'downloaded'))


def _photo(folder: pathlib.Path, seed: int) -> pathlib.Path:
    random = np.random.RandomState(seed)
    coarse = Image.fromarray(random.randint(0, 256, (4, 4, 3)).astype(np.uint8))
    path = folder / f'photo {seed}.png'
    coarse.resize((40 + seed, 40), Image.BILINEAR).save(path)
    return path


def _pixels(path: Any) -> np.ndarray:
    return np.asarray(Image.open(path))


def test_only_the_loopback_address_listens(served: Served) -> None:
    assert served.address.startswith('http://127.0.0.1:') and served.page.server_name == '127.0.0.1'
    assert served.page.share is False and served.page.share_url is None


def test_the_page_names_no_other_host_to_load_from(served: Served) -> None:
    code, headers, text = _ask(served.address)
    assert code == 200 and 'gradio-app' in text
    loads = re.findall(r'<(?:script|link|img|iframe|source|video|audio)\b[^>]*?(?:src|href)="([^"]+)"', text)
    assert loads and [place for place in loads if re.match(r'[a-z]+:|//', place)] == []
    theme = _ask(f'{served.address}theme.css')[2]
    assert len(theme) > 1000 and not re.search(r'url\(["\']?(?:https?:)?//|@import', theme)
    assert 'fonts.g' not in text + theme


def test_the_browser_is_forbidden_to_ask_other_hosts(served: Served) -> None:
    scripts = re.findall(r'src="\./(assets/[^"]+)"', _ask(served.address)[2])
    for path in ('', 'config', *scripts):
        code, headers, _ = _ask(served.address + path)
        policy = headers['content-security-policy']
        assert code == 200 and "default-src 'self'" in policy and "connect-src 'self'" in policy
        assert not re.search(r'https?:|\*', policy)


def test_what_speaks_to_others_is_closed_or_off(served: Served) -> None:
    for path in ('proxy=https://example.com/x', 'vibe-code', 'vibe-starter-queries', 'run-history/buckets', 'runs'):
        assert _ask(f'{served.address}gradio_api/{path}')[0] == 404, path
    assert _ask(f'{served.address}monitoring')[0] in (403, 404)
    assert served.page.analytics_enabled is False and served.page.run_history is False
    assert served.page.footer_links == [] and not served.page.ssr_mode


def test_other_names_for_this_machine_are_refused(served: Served) -> None:
    """A web page elsewhere may let its own name point here; its requests carry that name."""
    assert _ask(served.address, Host='evil.example')[0] == 400
    assert _ask(served.address, Host='localhost:7860')[0] == 200


def test_a_result_is_what_the_library_computes(served: Served, client: Any, tmp_path: pathlib.Path) -> None:
    path = _photo(tmp_path, 1)
    for direction in ('a2b', 'b2a'):
        (before, after), attention, said = client.predict(
            gradio_client.handle_file(path), direction, *SETTINGS, api_name='/translate'
        )
        wanted = served.answers.translate(Upload(str(path), path.name), direction, *SETTINGS)
        for found, pixels in ((before, wanted[0][0]), (after, wanted[0][1]), (attention, wanted[1])):
            assert np.array_equal(_pixels(found), pixels)
        assert 'photo 1.png: 41 × 40 pixels' in said


def test_bad_files_are_refused_in_words(client: Any, tmp_path: pathlib.Path) -> None:
    for name, data in (('words.png', b'just words\n'), ('cut.png', odd.encode(odd.photo(40, 50))[:300])):
        (tmp_path / name).write_bytes(data)
        pair, attention, said = client.predict(
            gradio_client.handle_file(tmp_path / name), 'a2b', *SETTINGS, api_name='/translate'
        )
        assert attention is None and not any(pair or ()) and f'{name}: expected a' in said and 'role="alert"' in said


def test_a_file_that_is_too_large_is_refused_while_it_arrives(
    served: Served, client: Any, tmp_path: pathlib.Path
) -> None:
    (tmp_path / 'large.png').write_bytes(bytes(1_100_000))
    before = _files(served)
    with pytest.raises(Exception, match='size|413|large'):
        client.predict(gradio_client.handle_file(tmp_path / 'large.png'), 'a2b', *SETTINGS, api_name='/translate')
    assert [path for path in _files(served) if path not in before and path.stat().st_size > 1_000_000] == []


def test_an_address_in_place_of_a_file_is_not_fetched(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gradio would download it, from public hosts at least."""
    from gradio import processing_utils

    asked: List[str] = []

    async def download(url: str, cache_dir: str) -> str:
        asked.append(url)
        raise RuntimeError('asked')

    monkeypatch.setattr(processing_utils, 'async_ssrf_protected_download', download)
    sent = {'path': 'http://example.invalid/me.png', 'meta': {'_type': 'gradio.FileData'}}
    with pytest.raises(Exception):  # noqa: B017  whatever the client makes of a refusal
        client.predict(sent, 'a2b', *SETTINGS, api_name='/translate')
    assert asked == []


def test_several_people_at_once(served: Served, tmp_path: pathlib.Path) -> None:
    """Each with a client of their own and pictures that nobody else has."""
    paths = [_photo(tmp_path, seed) for seed in range(12)]
    wanted = [served.answers.translate(Upload(str(path), path.name), 'a2b', *SETTINGS) for path in paths]
    assert len({found[0][1].tobytes() for found in wanted}) == len(paths)

    def visit(person: int) -> List[int]:
        client = gradio_client.Client(served.address, verbose=False, download_files=str(tmp_path / str(person)))
        mine = range(person, len(paths), 4)
        jobs = [
            client.submit(gradio_client.handle_file(paths[i]), 'a2b', *SETTINGS, api_name='/translate') for i in mine
        ]
        found = [job.result(timeout=120) for job in jobs]
        return [
            i for i, ((_, after), _, said) in zip(mine, found)
            if not np.array_equal(_pixels(after), wanted[i][0][1]) or paths[i].name not in said
        ]  # fmt: skip

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert [wrong for wrongs in pool.map(visit, range(4)) for wrong in wrongs] == []


def test_the_lab_answers(client: Any, tmp_path: pathlib.Path) -> None:
    verdict, pair, difference, ranges = client.predict(
        gradio_client.handle_file(_photo(tmp_path, 1)), 'a2b', *SETTINGS, 'stressed', 'float32', 'ieee', api_name='/lab'
    )
    assert 'the same bits' in verdict and '<svg' in ranges
    assert np.array_equal(_pixels(pair[0]), _pixels(pair[1])) and not _pixels(difference).any()


def test_pictures_are_deleted_after_a_while(served: Served, client: Any, tmp_path: pathlib.Path) -> None:
    """Gradio's own clean-up, with no patience: everything but the examples goes."""
    from gradio.route_utils import delete_files_created_by_app

    delete_files_created_by_app(served.page, 0)
    before = _files(served)
    client.predict(gradio_client.handle_file(_photo(tmp_path, 99)), 'a2b', *SETTINGS, api_name='/translate')
    assert len(_files(served)) > len(before)
    delete_files_created_by_app(served.page, 0)
    assert _files(served) == before
    assert served.page.delete_cache == (60, 600)


def _files(served: Served) -> List[pathlib.Path]:
    return sorted(path for path in (served.folder / 'pictures').rglob('*') if path.is_file())
