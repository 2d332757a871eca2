"""Run by itself: our backbone and timm's, with the same weights, on the same images.

Prints one JSON object. timm is imported in a process of its own: it imports torchvision, and one
whose compiled operators do not load needs stand-ins for two of them.
"""

import importlib.util
import json
import re
import sys
from pathlib import Path

import torch

from navaudit.agent.backbone import VoVNet
from navaudit.agent.shapes import V2_99

SIZES = ((128, 512), (96, 160))

RULES = (
    (r"^stem\.stem_(\d)/conv", lambda m: f"stem.{int(m[1]) - 1}.conv"),
    (r"^stem\.stem_(\d)/norm", lambda m: f"stem.{int(m[1]) - 1}.bn"),
    (r"^stage(\d)\.OSA\d_(\d+)", lambda m: f"stages.{int(m[1]) - 2}.blocks.{int(m[2]) - 1}"),
    (r"layers\.(\d)\.OSA\d_\d+_\d/conv", r"conv_mid.\1.conv"),
    (r"layers\.(\d)\.OSA\d_\d+_\d/norm", r"conv_mid.\1.bn"),
    (r"concat\.OSA\d_\d+_concat/conv", "conv_concat.conv"),
    (r"concat\.OSA\d_\d+_concat/norm", "conv_concat.bn"),
    (r"ese\.fc", "attn.fc"),
)  # fmt: skip


def timm_name(name):
    for pattern, there in RULES:
        name = re.sub(pattern, there, name)
    return name


def import_timm():
    torchvision = importlib.util.find_spec("torchvision")
    folder = Path(torchvision.submodule_search_locations[0]) if torchvision else Path()
    try:
        torch.ops.load_library(str(next(folder.glob("_C*.so"))))
    except (OSError, StopIteration):
        stand_in = torch.library.Library("torchvision", "DEF")
        for name in ("nms", "qnms"):
            stand_in.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        import_timm.keep = stand_in
    import timm

    return timm


def draw(encoder, seed):
    """Random weights and statistics that keep the signal at its scale."""
    rng = torch.Generator().manual_seed(seed)
    for name, value in encoder.state_dict().items():
        if name.endswith("running_var"):
            value.uniform_(0.5, 2.0, generator=rng)
        elif name.endswith("norm.weight"):
            value.uniform_(0.8, 1.2, generator=rng)
        elif value.ndim == 4:
            reach = (6.0 / value[0].numel()) ** 0.5
            value.uniform_(-reach, reach, generator=rng)
        elif value.is_floating_point():
            value.normal_(0.0, 0.1, generator=rng)
        else:
            value.zero_()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    timm = import_timm()
    from timm.layers import EffectiveSEModule

    # on the way to weights of our own, neither need draw its first ones
    with torch.device("meta"):
        ours, theirs = VoVNet(V2_99), timm.create_model("ese_vovnet99b", num_classes=0).eval()
    ours.to_empty(device="cpu").eval()
    with torch.no_grad():
        draw(ours, 1)
    names = {name: timm_name(name) for name in ours.state_dict()}
    absent = sorted(set(names.values()) - set(theirs.state_dict()))
    for stage, width in zip(theirs.stages, V2_99.outer, strict=True):
        for block in stage.blocks[:-1]:
            block.attn = EffectiveSEModule(width, device="meta")
    state = {names[name]: one for name, one in ours.state_dict().items()}
    theirs.load_state_dict(state, strict=True, assign=True)
    found = {"names": names, "absent": absent, "sizes": []}
    for rows, columns in SIZES:
        image = torch.rand(1, 3, rows, columns)
        with torch.no_grad():
            *_, stage4, stage5 = ours.stages(image)
            x = theirs.stem(image[:, [2, 1, 0]])
            for stage in theirs.stages:
                before, x = x, stage(x)
        found["sizes"].append({
            "size": [rows, columns],
            "equal": [torch.equal(stage4, before), torch.equal(stage5, x)],
            "shapes": [list(stage4.shape), list(stage5.shape)],
            "spread": float(stage5.std()),
        })  # fmt: skip
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
