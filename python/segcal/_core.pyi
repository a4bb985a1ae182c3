# SPDX-License-Identifier: Apache-2.0
"""The module that python/src/ binds: the public headers of the library, one to one."""

from collections.abc import Callable, Sequence
from typing import Any

__version__: str

class Cancelled(RuntimeError): ...

class RunOptions:
    threads: int
    memory: int
    cache_dir: str
    skip_bad: bool
    def __init__(self) -> None: ...
    def listen(self, listener: Callable[[str, int, int, str], bool | None] | None) -> None: ...

class Case:
    id: str
    group: str
    split: str
    members: list[str]
    labelled: bool
    def __init__(self, id: str, members: Sequence[Any], labels: Any, image: Any, mask: Any,
                 spacing: Sequence[float], group: str, split: str) -> None: ...

class Dataset:
    name: str
    classes: list[str]
    colors: list[str]
    input: str
    ignore_label: int | None
    background: int | None
    label_map: dict[int, int]
    folder: str
    file: str
    @property
    def cases(self) -> list[Case]: ...
    def __init__(self, other: Dataset = ...) -> None: ...
    def add(self, entry: Case) -> None: ...
    def put_into_split(self, split: str) -> None: ...
    def save(self, path: str) -> None: ...
    def select(self, split: str) -> Dataset: ...
    def assign_splits(self, proportions: Sequence[tuple[str, float]], seed: int) -> None: ...

def load_dataset(path: str) -> Dataset: ...

class IndexOptions:
    members: list[str]
    labels: str
    images: str
    masks: str
    input: str
    allow_missing: bool
    key: str
    name: str
    classes: list[str]
    nnunet: str
    nnunet_folders: list[str]
    batch: bool
    group_by_fold: bool
    ignore_label: int | None
    background: int | None
    label_map: str
    label_set: str
    layout: str
    splits: list[tuple[str, float]]
    seed: int

def index(file: str, options: IndexOptions) -> tuple[Dataset, list[str]]: ...
def numbered_classes(num_classes: int) -> list[str]: ...

class Model:
    pipeline: str
    classes: list[str]
    input: str
    translation_invariant: bool
    preserves: str
    file: str
    num_members: int
    report: str
    num_parameters: tuple[int, int]
    inverse_temperature: float | None
    @staticmethod
    def load(path: str) -> Model: ...
    def save(self, path: str) -> None: ...
    @staticmethod
    def from_json(text: str, where: str) -> Model: ...
    def to_json(self) -> str: ...

def load_models(path: str) -> list[Model]: ...

class FitOptions:
    run: RunOptions
    split: str
    validation: str
    search: int | None
    select: str
    seed: int
    checkpoint: str
    resume: bool

def fit(dataset: Dataset, pipeline: str, options: FitOptions) -> tuple[Model, list[str]]: ...
def expand_pipelines(names: Sequence[str]) -> list[str]: ...
def apply_case(model: Model, entry: Case, arrays: Sequence[tuple[str, Any]], run: RunOptions) -> None: ...

class ApplyOptions:
    run: RunOptions
    split: str
    write: list[str]
    format: str
    dtype: str
    compress: bool
    force: bool

class NnunetApplyOptions:
    run: RunOptions
    images: str
    overwrite: bool

def apply_nnunet(model: Model, inputs: Sequence[str], folder: str, options: NnunetApplyOptions) -> str: ...
def apply_files(model: Model, dataset: Dataset, folder: str, options: ApplyOptions) -> str: ...

class Statistics:
    def to_json(self) -> str: ...

class StatisticsOptions:
    metrics: list[str]
    reference: str
    pairs: list[tuple[str, str]]
    test: str
    replicates: int
    level: float
    seed: int
    threads: int

class EvaluateOptions:
    run: RunOptions
    split: str
    metrics: dict[str, dict[str, str]]
    families: list[str]
    keep_cells: bool

class EvaluateResult:
    skipped: list[str]
    warnings: list[str]
    statistics: Statistics | None
    def to_json(self) -> str: ...
    @staticmethod
    def from_json(text: str, where: str) -> EvaluateResult: ...
    def to_csv(self) -> str: ...
    def cells_csv(self) -> str: ...

def baseline(dataset: Dataset, pipeline: str) -> Model: ...
def evaluate(dataset: Dataset, models: Sequence[Model], options: EvaluateOptions) -> EvaluateResult: ...
def compute_statistics(repeats: Sequence[EvaluateResult], options: StatisticsOptions,
                       listener: Callable[[str, int, int, str], bool | None] | None) -> Statistics: ...

class MetricValue:
    name: str
    value: float
    per_class: list[float]

class Diagram:
    kind: str
    about: str
    class_index: int
    columns: list[str]
    rows: list[list[float]]

class MetricSums:
    cases: int
    voxels: int
    labelled: int
    def __init__(self, model: Model | MetricSums, like: Dataset = ..., options: EvaluateOptions = ...) -> None: ...
    def add(self, cases: Dataset) -> None: ...
    def merge(self, other: MetricSums) -> None: ...
    def reset(self) -> None: ...
    def values(self) -> list[MetricValue]: ...
    def diagrams(self) -> list[Diagram]: ...
    def pack(self) -> bytes: ...
    def merge_packed(self, bytes: bytes) -> None: ...

class VerifyOptions:
    run: RunOptions
    voxels: int
    seed: int
    split: str
    max_examples: int

def verify(model: Model, dataset: Dataset | None, options: VerifyOptions) -> str: ...

class SimulateOptions:
    preset: str
    num_cases: int
    num_members: int
    num_classes: int
    size: list[int]
    seed: int
    true_map: str
    temperature: float
    variation: float
    correlation: float
    offset: float
    member_noise: float
    ignore_fraction: float
    splits: list[tuple[str, float]]
    dtype: str
    input: str
    threads: int

def simulate(folder: str, options: SimulateOptions,
             listener: Callable[[str, int, int, str], bool | None] | None) -> str: ...

class DatasetSummary:
    def to_json(self) -> str: ...

def inspect(dataset: Dataset, run: RunOptions) -> DatasetSummary: ...

class CalibratorDescription:
    name: str
    summary: str
    reference: str
    options: dict[str, str]
    composes: bool

class MetricDescription:
    name: str
    summary: str
    pooled: bool

class MetricFamilyDescription:
    name: str
    reference: str
    metrics: list[MetricDescription]
    options: dict[str, str]
    on_request: bool

def list_calibrators() -> list[CalibratorDescription]: ...
def list_metrics() -> list[MetricFamilyDescription]: ...
def active_target() -> str: ...
def supported_targets() -> list[str]: ...

class TableForm:
    text: TableForm
    markdown: TableForm
    latex: TableForm
    csv: TableForm

def evaluation_tables(result: EvaluateResult, names: Sequence[str], form: TableForm,
                      per_class: bool) -> list[str]: ...
def table_metrics(result: EvaluateResult, names: Sequence[str]) -> list[str]: ...
def sorted_by(result: EvaluateResult, metric: str) -> EvaluateResult: ...

class CaseFigureOptions:
    run: RunOptions
    case_id: str

class FreeEnergyFigureOptions:
    run: RunOptions
    case_ids: list[str]

def with_baselines(dataset: Dataset, models: Sequence[Model]) -> list[Model]: ...
def reliability_figure(result: EvaluateResult) -> str: ...
def class_reliability_figure(result: EvaluateResult) -> str: ...
def region_reliability_figure(result: EvaluateResult) -> str: ...
def risk_coverage_figure(result: EvaluateResult) -> str: ...
def confusion_figure(result: EvaluateResult) -> str: ...
def forest_figure(result: EvaluateResult, names: Sequence[str]) -> str: ...
def pair_forest_figure(statistics: Statistics, result: EvaluateResult, names: Sequence[str]) -> str: ...
def case_figure(dataset: Dataset, models: Sequence[Model], result: EvaluateResult,
                options: CaseFigureOptions) -> str: ...
def evaluation_figures(dataset: Dataset, models: Sequence[Model], result: EvaluateResult,
                       options: CaseFigureOptions) -> list[tuple[str, str]]: ...
def free_energy_figure(dataset: Dataset, summary: DatasetSummary, options: FreeEnergyFigureOptions) -> str: ...

class FileKind:
    dataset: FileKind
    model: FileKind
    metrics: FileKind
    table: FileKind
    figure: FileKind
    array: FileKind
    checkpoint: FileKind
    part: FileKind
    onnx: FileKind
    page: FileKind

class OutputCheck:
    def __init__(self, force: bool) -> None: ...
    def reads(self, file: str) -> None: ...
    def reads_dataset(self, dataset: Dataset) -> None: ...
    def writes(self, file: str, kind: FileKind) -> None: ...
    def writes_into(self, folder: str) -> None: ...

def write_text(path: str, text: str) -> None: ...
def write_bytes(path: str, bytes: bytes) -> None: ...
def create_folder(path: str) -> None: ...

class Study:
    statistics: Statistics
    repeats: list[EvaluateResult]
    def to_json(self) -> str: ...
    @staticmethod
    def from_json(text: str, where: str) -> Study: ...
    def cases_csv(self) -> str: ...

class StudyRun:
    dataset: str
    shifts: list[tuple[str, str]]
    command: str
    def to_json(self) -> str: ...

class NamedTable:
    name: str
    title: str
    def render(self, form: TableForm) -> str: ...

def study_tables(study: Study) -> list[NamedTable]: ...
def write_study(folder: str, study: Study) -> None: ...

class RecommendOptions:
    score: str
    preserves: str
    translation_invariant: bool

class CompareOptions:
    run: RunOptions
    pipelines: list[str]
    repeats: int
    split: list[float]
    seed: int
    search: int | None
    select: str
    families: list[str]
    metrics: dict[str, dict[str, str]]
    pairs: list[tuple[str, str]]
    replicates: int
    level: float
    paper_objective: bool
    calibration_cases: list[int]
    ece_bins: list[int]
    ace_bins: list[int]
    members: list[int]
    recommend: RecommendOptions
    folder: str
    resume: bool
    def add_shift(self, name: str, dataset: Dataset) -> None: ...

def compare(dataset: Dataset, options: CompareOptions) -> Study: ...
def fit_auto(dataset: Dataset, options: FitOptions, recommend: RecommendOptions) -> tuple[Model, list[str]]: ...

class ReportOptions:
    run: RunOptions
    dataset: str
    cases: int
    case_ids: list[str]
    max_bytes: int

class ReportResult:
    html: str
    explored: int
    missing: str

def make_report(folder: str, options: ReportOptions) -> ReportResult: ...

class OnnxOptions:
    outputs: list[str]
    prefix: str
    pool_type: str
    members: int
    spatial_axes: int
    input_type: str
    opset: int

class OnnxJoin:
    outputs: list[str]
    keep_outputs: bool
    image: str

def list_onnx_outputs() -> list[str]: ...
def to_onnx(model: Model, options: OnnxOptions) -> bytes: ...
def append_to_onnx(model: Model, segmenter: bytes, join: OnnxJoin, options: OnnxOptions) -> bytes: ...
def export_onnx(model: Model, path: str, options: OnnxOptions) -> None: ...
def append_to_onnx_file(model: Model, segmenter: str, path: str, join: OnnxJoin, options: OnnxOptions) -> None: ...
