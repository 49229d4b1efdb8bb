"""The layout of the page, with Gradio; what it shows is computed in `answers`."""

from __future__ import annotations

import os
import pathlib
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import gradio as gr
from gradio.themes.utils.fonts import Font

from ugatit.errors import UserError
from ugatit.web import words
from ugatit.web.answers import Answers
from ugatit.web.settings import PageSettings
from ugatit.web.style import CSS
from ugatit.web.upload import Upload

_ONE_AT_A_TIME: Dict[str, Any] = {
    'concurrency_limit': 1,
    'concurrency_id': 'network',
    'trigger_mode': 'always_last',
    'show_progress': 'minimal',
}
_RESIZES = (('cut to the centre square', 'crop'), ('mirrored margins', 'pad'), ('stretched', 'stretch'))
_FACE_CROPS = (('all of it', 'off'), ('its largest face', 'auto'))
_ARITHMETICS = (('float32', 'float32'), ('float16 as it is', 'plain'), ('float16 with a range plan', 'planned'))
_OVERFLOWS = (('cut off at 65504 (Ascend 910)', 'saturate'), ('infinity (GPU)', 'ieee'))
_SHOWN = 430  # px, the height of results
_PIXELATED = 128  # px; smaller pictures are enlarged without smoothing


class Model(NamedTuple):
    """What the page calls things."""

    line: str  # which network it is
    domains: Tuple[str, str]  # ('face in lines', 'face of blocks')
    examples: Tuple[Tuple[pathlib.Path, str], ...]  # (file, direction)
    image_size: int
    direction: str = 'a2b'  # what the page begins with
    shared: bool = False  # also shown on the internet


def build(answers: Answers, model: Model, settings: PageSettings) -> gr.Blocks:
    """The whole page; `ugatit.web.server.serve` puts it on the network of this machine."""
    # Fonts, analytics and everything else that Gradio would fetch is switched off here and in `server`.
    with gr.Blocks(
        title='U-GAT-IT', analytics_enabled=False, delete_cache=(60, settings.keep_seconds), fill_width=True
    ) as page:
        gr.HTML(_head(model), elem_classes='ugatit', padding=False)
        with gr.Row():
            with gr.Column(scale=4, min_width=300):
                inputs = _inputs(model, settings)
            with gr.Column(scale=8, min_width=320), gr.Tabs():
                with gr.Tab('Result') as result_tab:
                    results = _results(model)
                with gr.Tab('Float16 lab') as lab_tab:
                    switches, shown = _lab(model)
        shown.append(gr.HTML(elem_classes='ugatit', elem_id='ranges', padding=False, visible=False))  # needs the width
        _connect(page, answers, inputs, results, (result_tab, lab_tab), switches, shown)
    page.queue(max_size=settings.waiting, default_concurrency_limit=4)
    return page


def launch_options() -> Dict[str, Any]:
    """What belongs to the look, but is said when the page is launched."""
    fonts = {'font': Font('sans-serif'), 'font_mono': Font('monospace')}  # none to fetch; the style names better ones
    theme = gr.themes.Default(primary_hue='teal', secondary_hue='teal', neutral_hue='slate', **fonts)
    return {'css': CSS, 'theme': theme}


def _inputs(model: Model, settings: PageSettings) -> List[Any]:
    """The picture, the direction, how it is cut; examples set the first two."""
    files = [str(path) for path, _ in model.examples]
    first = next((str(path) for path, direction in model.examples if direction == model.direction), files[0])
    picture = gr.Image(
        value=first, label='Your picture', type='filepath', height=300, sources=['upload', 'webcam', 'clipboard'],
        buttons=['fullscreen'], elem_id='picture', elem_classes=['whole', *_look(model)],
        alt_text='the picture to translate',
        placeholder=f'Drop a picture here, or click to choose one (at most {settings.max_megabytes} MB)',
    )  # fmt: skip
    picture.preprocess = _untouched
    picture.async_move_resource_to_block_cache = _only_files(picture)
    gr.HTML('<p class="soft">Or click one of these:</p>', elem_classes='ugatit', padding=False)
    gallery = gr.Gallery(
        files, columns=6, show_label=False, allow_preview=False, interactive=False, height='auto', container=False,
        object_fit='contain', buttons=[], elem_id='examples', elem_classes=_look(model),
    )  # fmt: skip
    direction = gr.Radio(_directions(model.domains), value=model.direction, label='Direction', elem_id='direction')
    with gr.Accordion('How it is cut', open=False):
        face_crop = gr.Radio(_FACE_CROPS, value=settings.face_crop, label='Of a photograph translate',
                             elem_id='face_crop')  # fmt: skip
        resize = gr.Radio(_RESIZES, value=settings.resize, label='What is not square is', elem_id='resize')
    gallery.select(_chosen(model), None, [picture, direction], api_visibility='private', show_progress='hidden',
                   queue=False)  # fmt: skip
    return [picture, direction, resize, face_crop]


def _results(model: Model) -> List[Any]:
    status = gr.HTML(elem_classes='ugatit', elem_id='status', padding=False)
    with gr.Row():
        with gr.Column(scale=1, min_width=260):
            slider = gr.ImageSlider(label='Input | result', type='numpy', format='png', max_height=_SHOWN,
                                    elem_id='result', elem_classes=_look(model), interactive=False)  # fmt: skip
        with gr.Column(scale=1, min_width=260):
            attention = gr.Image(label='Attention', type='numpy', format='png', height=_SHOWN, interactive=False,
                                 buttons=['download', 'fullscreen'], elem_id='attention',
                                 elem_classes=['whole', *_look(model)],
                                 alt_text='the input with the attention map')  # fmt: skip
            gr.HTML('<p class="soft">Red: where the network looked most.</p>', elem_classes='ugatit', padding=False)
    return [slider, attention, status]


def _lab(model: Model) -> Tuple[List[Any], List[Any]]:
    gr.HTML(_EXPLAINED, elem_classes='ugatit', padding=False)
    with gr.Row():
        weights = gr.Radio((('as loaded', 'loaded'), ('stressed twin', 'stressed')), value='stressed', label='Weights',
                           elem_id='weights', min_width=220)  # fmt: skip
        kind = gr.Radio(_ARITHMETICS, value='plain', label='Arithmetic', elem_id='kind', min_width=260)
        overflow = gr.Radio(_OVERFLOWS, value='saturate', label='Beyond 65504', elem_id='overflow', min_width=260)
    verdict = gr.HTML(elem_classes='ugatit', elem_id='verdict', padding=False)
    with gr.Row():
        with gr.Column(scale=1, min_width=260):
            slider = gr.ImageSlider(label='float32 | chosen arithmetic', type='numpy', format='png', max_height=_SHOWN,
                                    elem_id='compared', elem_classes=_look(model), interactive=False)  # fmt: skip
        with gr.Column(scale=1, min_width=260):
            difference = gr.Image(label='Difference', type='numpy', format='png', height=_SHOWN, interactive=False,
                                  buttons=['download', 'fullscreen'], elem_id='difference',
                                  elem_classes=['whole', *_look(model)], alt_text='where the two differ')  # fmt: skip
            gr.HTML(words.scale(), elem_classes='ugatit', padding=False)
    return [weights, kind, overflow], [verdict, slider, difference]


def _connect(
    page: gr.Blocks, answers: Answers, inputs: List[Any], results: List[Any], tabs: Tuple[Any, Any],
    switches: List[Any], shown: List[Any],
) -> None:  # fmt: skip
    """What causes what. The lab is computed only while its tab is open: ranges take longer than the picture."""
    opened = gr.State(False)
    changes = [component.change for component in inputs]
    gr.on([page.load, *changes], answers.translate, inputs, results, api_name='translate', **_ONE_AT_A_TIME)

    def lab_if_open(is_open: bool, *values: Any) -> Any:
        return answers.lab(*values) if is_open else [gr.skip() for _ in shown]

    gr.on(changes, lab_if_open, [opened, *inputs, *switches], shown, api_visibility='private', **_ONE_AT_A_TIME)
    gr.on([tabs[1].select, *(switch.change for switch in switches)], answers.lab, [*inputs, *switches], shown,
          api_name='lab', **_ONE_AT_A_TIME)  # fmt: skip
    for tab, is_open in zip(tabs, (False, True)):
        tab.select(_opening(is_open), None, [opened, shown[-1]], queue=False, api_visibility='private',
                   show_progress='hidden')  # fmt: skip


def _opening(is_open: bool) -> Any:
    return lambda: (is_open, gr.update(visible=is_open))


def _untouched(payload: Optional[Any]) -> Optional[Upload]:
    """The file as it was sent: Gradio itself would decode it, turn it another way and refuse with other words."""
    return None if payload is None else Upload(payload.path, payload.orig_name or os.path.basename(payload.path))


def _only_files(picture: gr.Image) -> Any:
    """Gradio would download what a request names by an address."""
    inner = picture.async_move_resource_to_block_cache

    async def move(place: Any) -> Optional[str]:
        if place is not None and '://' in str(place):
            raise UserError('A picture must be sent as a file, but an address arrived; nothing is fetched from there.')
        return await inner(place)

    return move


def _chosen(model: Model) -> Any:
    def choose(event: gr.SelectData) -> Tuple[str, str]:
        path, direction = model.examples[event.index]
        return str(path), direction

    return choose


def _directions(domains: Tuple[str, str]) -> List[Tuple[str, str]]:
    a, b = domains
    return [(f'{a} → {b} (a2b)', 'a2b'), (f'{b} → {a} (b2a)', 'b2a')]


def _look(model: Model) -> List[str]:
    return ['pixelated'] if model.image_size < _PIXELATED else []


def _head(model: Model) -> str:
    stays = 'This page is shown on the internet' if model.shared else 'Nothing leaves this machine'
    return (
        '<h1>U-GAT-IT: translate a face, and see what float16 does to it</h1>'
        f'<p class="soft">{model.line} {stays}; pictures are deleted some minutes after their last use.</p>'
    )


_EXPLAINED = (
    '<p>Some accelerators compute convolutions in float16 only, which ends at 65504. Where a network&rsquo;s values are'
    ' larger, the picture is wrong, and often nothing says so. A <b>range plan</b> stores every value times a power of'
    ' two that makes it fit, which does not change the function. The <b>stressed twin</b> has the same picture in'
    ' float32, bit for bit, but values up to a million: try float16 on it as it is, then with a plan.</p>'
)
