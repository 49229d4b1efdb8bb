"""Command lines of infer.py that are mistakes, with the sentence each gets; {root} and {photo} are filled in."""

from __future__ import annotations

from typing import Dict, Optional, Tuple

FLAGS: Dict[str, Tuple[str, str]] = {  # one word each: how a mistake looks, and what is said
    'unknown flag': ('--heatmaps', r'infer.py has no flag --heatmaps; did you mean --heatmap\?'),
    'a flag of the original': ('--phase=test', r'infer.py has no flag --phase'),
    'unlike anything': ('--xyzzy', r'no flag --xyzzy; python infer.py --help lists the flags'),
    'a flag of absl': ('--flagfile=x', r'no flag --flagfile'),
    'precision': ('--precision=fp16', r'--precision=fp16: expected float32, mixed_float16, float16, .*'),
    'precision, nearly': ('--precision=mixed_float', r'did you mean mixed_float16\?'),
    'overflow': ('--overflow=inf', r'--overflow=inf: expected ieee or saturate'),
    'bfloat16 saturates nowhere': (
        '--precision=mixed_bfloat16 --overflow=saturate', r'overflow saturate belongs to float16 hardware.* use ieee'),
    'direction': ('--direction=A2C', r'--direction=A2C: expected a2b or b2a'),
    'device': ('--device=cuda', r'--device=cuda: expected auto, cpu, gpu or npu'),
    'no NPU': ('--device=npu', r'--device=npu needs Python 3.7 to 3.9, TensorFlow 2.6.5 and the vendor'),
    'resize': ('--resize=fit', r'--resize=fit: expected stretch, pad, crop, official or antialiased'),
    'batch 0': ('--batch_size=0', r'--batch_size=0: expected a whole number from 1 to 4096'),
    'batch of words': ('--batch-size four', r'--batch_size=four: expected a whole number'),
    'half a batch': ('--batch_size=1.5', r'--batch_size=1.5: expected a whole number'),
    'size 255': ('--image_size=255', r'must be a multiple of 4 .* but 255 arrived; the nearest that fits is 256'),
    'size 2': ('--image_size=2', r'--image_size=2: expected a whole number from 8 to 8192'),
    'size of a poster': ('--image_size=100000', r'expected a whole number from 8 to 8192'),
    'negative size': ('--image_size=-256', r'expected a whole number from 8 to 8192'),
    'max_pixels': ('--max_pixels=0', r'--max_pixels=0: expected a whole number of at least 1'),
    'background': ('--background=whitish', r'expected a background colour such as white, black or #ff8800'),
    'a switch that is neither': ('--keep_size=maybe', r'--keep_size=maybe: expected true, 1, yes, false, 0 or no'),
    'an empty value': ('--input=', r'--input=: expected a value, but it is empty \(an unset shell variable\?\)'),
    'inception alone': ('--inception=x.pb', r'--inception belongs to --metrics_against=DIR, which is missing'),
    'subsets alone': ('--kid_subset_size=5', r'--kid_subset_size belongs to --metrics_against=DIR'),
    'a subset of one': ('--kid_subset_size=1', r'--kid_subset_size=1: expected a whole number of at least 2'),
    'a missing value': ('--output --heatmap', r'--output needs a value, but none arrived; write --output=VALUE'),
}  # fmt: skip

# Places: what lies there is made first.
PLACES: Dict[str, Tuple[str, str]] = {
    'no such picture': ('{root}/photo.jpg', r'there is no .*photo.jpg \(current folder: .*did you mean photo.png\?'),
    'no such folder': ('{root}/a/b/c.png', r'there is no .*the folder .*a/b does not exist either, check the path'),
    'a stray word': ('true', r'expected a picture, a folder or a pattern, but there is no .*true'),
    'an empty folder': ('{root}/empty', r'found 0 in .*empty \(current folder: .*; there: nothing\): point'),
    'words only': ('{root}/words', r'found 0 in .*words .*there: 2 .txt, 1 hidden or system\)'),
    'subfolders only': ('{root}/nested', r'found 0 in .*nested .*one of its folders \(deep\), or .*--recursive'),
    'no match': ('{root}/*.jpg', r'found 0 in .*\*.jpg'),
    'one of two missing': ('{photo} {root}/nowhere.png', r'there is no .*nowhere.png'),
    'a pipe': ('{root}/pipe', r'expected a picture, a folder or a pattern, but .*pipe'),
    'output is a file': ('{photo} --output={root}/words/a.txt', r'must be a folder or end in .png, but .*a.txt'),
    'output below a file': ('{photo} --output={photo}/out', r'of --output cannot be made, because .*png is a file'),
    'output as JPEG': ('{photo} --output={root}/a.jpg', r'written as PNG, but .* asks for .jpg; write --.*/a.png'),
    'output is the input': ('{photo} --output={photo}', r'would overwrite the input; choose another name'),
    'output is a link to it': ('{photo} --output={root}/link.png', r'would overwrite the input'),
    'output is taken': ('{photo} --output={root}/taken.png', r'taken.png is there already and is no result of ours'),
    'one file for two': ('{photo} {root}/taken.png --output={root}/a.png', r'is one file, but there are 2 inputs'),
    'metrics against nothing': ('{photo} --metrics_against={root}/no', r'there is no .*/no'),
    'metrics of one picture': ('{photo} --metrics_against={root}', r'KID needs at least 2 pictures on each side'),
    'metrics of the results': ('{photo} --output={root} --metrics_against={root}', r'is the folder of the results'),
    'a subset too large': (
        '{photo} {root}/taken.png --metrics_against={root} --kid_subset_size=3',
        r'from 2 to 2 pictures, as many as the smaller of the sets \(2 and 3\), but 3',
    ),
    'no graph': (
        '{photo} {root}/taken.png --metrics_against={root} --inception={photo}',
        r'--inception must be a frozen graph, .* but .*photo.png is none',
    ),
    'report is the input': ('{photo} --json={photo}', r'--json=.*photo.png exists already and is not a report of ours'),
    'report is a result': ('{photo} --json={root}/out/photo_a2b.png', r'would overwrite an input or a result'),
    'report is a folder': ('{photo} --json={root}', r'--json must be a file, but .* is a folder; write --json='),
    'report is taken': ('{photo} --json={root}/words/a.txt', r'exists already and is not a report of ours'),
    'report below a file': ('{photo} --json={photo}/a.json', r'of --json cannot be made, because .*png is a file'),
}  # fmt: skip

# Range plans and variants: the content of a file that is given.
PLANS: Dict[str, Tuple[Optional[str], str]] = {
    'missing': (None, r'A range plan was expected at .*given, but it cannot be read'),
    'no JSON': ('words', r'should be a range plan \(JSON\), but it is not JSON'),
    'other JSON': ('{"a": 1}', r'should be a range plan with "networks"'),
    'for the other direction': ('{"networks": {"generator_A": {}}}', r'A range plan for generator_B is expected'),
    'an unknown network': ('{"networks": {"generator": {}}}', r"it names 'generator'; correct the name"),
    'an unknown group': ('{"networks": {"generator_B": {"x": 1}}}', r'groups that this network does not have: x;'),
    'a fraction': ('{"networks": {"generator_B": {"x": 1.5}}}', r'from 0 to 60, but generator_B x has 1.5'),
    'too large': ('{"networks": {"generator_B": {"x": 99}}}', r'whole number from 0 to 60'),
    'of the future': ('{"format": 9, "networks": {"generator_B": {}}}', r'is a range plan of format 9'),
    'damaged': ('{"networks": {"generator_B": {}}, "notes": 3}', r'should be a range plan, but its content is damaged'),
}  # fmt: skip
VARIANTS: Dict[str, Tuple[str, Optional[str], str]] = {
    'unknown name': ('prescale', None, r"There is no preset of variants 'prescale'; choose one of default, "),
    'missing file': ('{root}/mine.py', None, r'Variants should be read from .*mine.py, but that failed'),
    'no Python': ('{root}/mine.py', 'norm = [', r'must be valid Python, but line 1 fails'),
    'an unknown variant': ('{root}/mine.py', "norm = [('.*', 'batchnorm')]", r"unknown norm variant 'batchnorm'"),
    'an unknown setting': ('{root}/mine.py', "norms = [('.*', 'batch')]", r'legal settings are norm, stat'),
    'no such layer': ('{root}/mine.py', "norm = [('conv9', 'batch'), ('.*', 'default')]", r"'conv9' matches no layer"),
    'not all layers': ('{root}/mine.py', "norm = [('generator_B/.*', 'batch')]", r'Every layer needs a norm rule'),
}  # fmt: skip
