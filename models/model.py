"""`Model`: a network with its tokenizer and preprocessing, ready to be traced."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Literal

import torch

from models.decoder import Decoder, DecoderConfig
from models.encoder import Encoder, EncoderConfig
from models.layer import AttentionLayer, AttentionLayerConfig
from models.preprocessing import Preprocessing, ProcessorSettings, changed
from models.prompting import PromptSettings
from models.seq2seq import Seq2Seq, Seq2SeqConfig
from models.smallest import Smallest, SmallestConfig
from models.ssru import Translator, TranslatorConfig
from models.text import Tokenizer
from models.vector_encoder import VectorEncoder, VectorEncoderConfig
from models.vit import ViT, ViTConfig

if TYPE_CHECKING:
    from models.pretrained.tokenizers import Targets

Network = Encoder | Decoder | Seq2Seq | Translator | ViT | Smallest | AttentionLayer | VectorEncoder
Config = (
    EncoderConfig
    | DecoderConfig
    | Seq2SeqConfig
    | TranslatorConfig
    | ViTConfig
    | SmallestConfig
    | AttentionLayerConfig
    | VectorEncoderConfig
)
BUILT: dict[type, tuple[str, Any]] = {  # what people call it, and the network of a config
    EncoderConfig: ("encoder", Encoder),
    DecoderConfig: ("decoder", Decoder),
    Seq2SeqConfig: ("encoder–decoder", Seq2Seq),
    TranslatorConfig: ("translator", Translator),
    SmallestConfig: ("smallest transformer", Smallest),
    AttentionLayerConfig: ("attention layer", AttentionLayer),
    VectorEncoderConfig: ("encoder of vectors", VectorEncoder),
    ViTConfig: ("ViT", ViT),
}
TYPES = {  # configs by the model_type of a config.json
    f"headscope-{network.__name__.lower()}": config for config, (_, network) in BUILT.items()
}
Door = Literal["own", "transformers"]


def settings_of(config: Config) -> dict[str, Any]:
    """The config.json of one of our networks."""
    name = next(name for name, kind in TYPES.items() if isinstance(config, kind))
    return {"model_type": name, "config": asdict(config)}


def config_of(settings: Mapping[str, Any]) -> Config:
    """The config that a config.json holds; what else it holds is about the training.

    Raises:
        ValueError: for a field that is not one of the config's, or has a value that it refuses.
    """
    kind: Any = TYPES[settings["model_type"]]
    given = settings.get("config")
    if not isinstance(given, Mapping):
        raise ValueError(f"config: expected an object, received {given!r:.40}")
    known = {field.name for field in fields(kind)}
    unknown = sorted(set(given) - known)
    if unknown:
        raise ValueError(f"config: expected only {', '.join(sorted(known))}, received {unknown}")
    whole = {name: tuple(v) if isinstance(v, list) else v for name, v in given.items()}
    try:
        return kind(**whole)
    except TypeError as error:  # a word where a number is expected
        raise ValueError(f"config: {str(error).splitlines()[0]}") from error


def grouped(weights: Sequence[str]) -> str:
    """Names of weights in a few words: "classifier (2 tensors), embeddings.mask_token"."""
    groups: dict[str, list[str]] = {}
    for name in weights:
        groups.setdefault(".".join(name.split(".")[:-1][:2]), []).append(name)
    return ", ".join(
        names[0] if len(names) == 1 else f"{group} ({len(names)} tensors)"
        for group, names in groups.items()
    )


def is_multi_label(problem_type: object) -> bool:
    """Whether a config's `problem_type` lets an input belong to several classes."""
    return problem_type == "multi_label_classification"


def class_names(names: object) -> tuple[str, ...]:
    """The names of classes 0, 1, … in a config's `id2label`; () unless all of them are named.

    The library fills in "LABEL_0", "LABEL_1", … where a config states no names.
    """
    if not isinstance(names, Mapping):
        return ()
    known = {str(number): str(name) for number, name in names.items()}
    known_names = tuple(known.get(str(number), "") for number in range(len(known)))
    filled_in = tuple(f"LABEL_{number}" for number in range(len(known)))
    return known_names if all(known_names) and known_names != filled_in else ()


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A network that is ready to be traced.

    Attributes:
        name: for display.
        network: the module in eval mode, ours or of transformers.
        tokenizer: turns text into ids; None if the model only reads ids.
        trained: False for random weights.
        left_out: weights of the checkpoint that the network does not use.
        preprocessing: of its images; None for text.
        target_tokenizer: turns text into ids for the decoder of an encoder–decoder; None if it
            only reads ids there.
        door: the implementation: "own" or "transformers".
        sound: settings of its feature extractor; None if it reads no sound.
        max_tokens: maximum number of tokens, where the config does not define it.
        classes: names of its classes, in the order of its logits; () if it states none.
        multi_label: whether an input may belong to several classes.
        questions: how many of its classes belong to each question that it answers, in the order of
            its logits; () for a single question.
        door_reason: why transformers runs it although there is a network of ours; "" otherwise.
        prompts: what its prompts are written with; None if it states nothing.
        language: that it translates into, one of `languages`; "" as the checkpoint has it.
    """

    name: str
    network: Any
    tokenizer: Tokenizer | None
    trained: bool
    left_out: tuple[str, ...] = ()
    preprocessing: Preprocessing | None = None
    target_tokenizer: Tokenizer | None = None
    door: Door = "own"
    sound: ProcessorSettings | None = None
    max_tokens: int | None = None
    classes: tuple[str, ...] = ()
    multi_label: bool = False
    questions: tuple[int, ...] = ()
    door_reason: str = ""
    prompts: PromptSettings | None = None
    language: str = ""

    @cached_property
    def digest(self) -> str:
        """A digest of the weights, whatever file they came from, as they were when it was asked."""
        return self.weights_digest()

    def weights_digest(self) -> str:
        """A digest of the weights, whatever file they came from."""
        digest = hashlib.blake2b(digest_size=16)
        for name, values in sorted(self.network.state_dict().items()):
            digest.update(f"{name} {tuple(values.shape)} {values.dtype}".encode())
            numbers = values.detach().cpu().contiguous().view(-1)
            digest.update(numbers.view(torch.uint8).numpy().data)
        return digest.hexdigest()

    def untrained(self, seed: int = 0) -> "Model":
        """The same network, tokenizer and settings with weights drawn anew, as its library draws.

        Args:
            seed: of the weights; PyTorch's own generator is left as it was.

        Returns:
            Another model, on the same device and in the same dtype.

        Raises:
            ValueError: for a network without a config that it is made from.
        """
        config = getattr(self.network, "config", None)
        if config is None:
            raise ValueError(f"{self.name} states no config from which it could be made anew")
        if is_dataclass(config) and any(field.name == "seed" for field in fields(config)):
            config = replace(config, seed=seed)  # pyright: ignore[reportArgumentType]
        weights = next(self.network.parameters())
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            drawn = type(self.network)(config)
        drawn = drawn.to(device=weights.device, dtype=weights.dtype).eval()
        return replace(self, network=drawn, trained=False, left_out=())

    def with_preprocessing(self, *, size: int | None = None) -> "Model":
        """The same model, which reads its images at another size; see `preprocessing.changed`.

        Args:
            size: pixels of the shorter side; None leaves it as it is.

        Raises:
            ValueError: for a model that states no preprocessing, and a size that no image can have.
        """
        if self.preprocessing is None:
            raise ValueError(f"{self.name} states no image preprocessing")
        return replace(self, preprocessing=changed(self.preprocessing, size=size))

    @property
    def targets(self) -> "Targets | None":
        """How its tokenizer reads targets; None where it reads them as it reads sources."""
        decodes = getattr(self.network.config, "is_encoder_decoder", False)
        return getattr(self.tokenizer, "targets", None) if decodes else None

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages that a translator writes, where it can be told which."""
        return () if self.targets is None else self.targets.codes

    def into(self, language: str) -> "Model":
        """The same translator, which reads targets as of a language and writes in it.

        Args:
            language: one of `languages`, such as "fra_Latn".

        Raises:
            ValueError: for any other.
        """
        if self.targets is None or not self.languages:
            raise ValueError(f"{self.name} has no languages to choose from")
        if language not in self.languages:
            near = get_close_matches(language, self.languages, n=3, cutoff=0.4)
            expected = ", ".join(near or self.languages[:3])
            raise ValueError(
                f"language: expected one of {len(self.languages)}, such as {expected}, received"
                f" {language!r}"
            )
        reader = self.targets.reader(language)
        return replace(self, target_tokenizer=reader, language=language)

    def __repr__(self) -> str:
        network = type(self.network).__name__
        by = "" if self.door == "own" else " of transformers"
        drawn = "" if self.trained else ", random weights"
        return f"Model({self.name!r}: {network}{by} on {self.device.type}{drawn})"

    def question_of(self, id: int) -> range | None:
        """The classes of the question that a class answers; None for a single question."""
        ends = accumulate(self.questions, initial=0)
        spans = (range(first, end) for first, end in pairwise(ends))
        return next((span for span in spans if id in span), None)

    @property
    def limit(self) -> int:
        """Maximum number of tokens; for images that of the configured size."""
        if self.max_tokens is not None:
            return self.max_tokens
        config = self.network.config
        return config.tokens if isinstance(config, ViTConfig) else config.max_tokens

    @property
    def device(self) -> torch.device:
        return next(self.network.parameters()).device
