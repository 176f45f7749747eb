import type { SmokeRun } from '../result.ts';

type Labels = Readonly<Record<string, string>>;

/** Prometheus' text format, 0.0.4. Every series is there in every run, so that none goes stale by being absent. */
export function writePrometheus(run: SmokeRun): string {
  const base = { profile: run.profile, interface: run.interface ?? '' };
  const one = (value: number): [Labels, number][] => [[base, value]];
  const bySteps = (measure: (step: SmokeRun['steps'][number]) => number) =>
    run.steps.map((step): [Labels, number] => [{ ...base, step: step.id }, measure(step)]);
  const at = (time: string | null) => (time === null ? 0 : Date.parse(time) / 1000);
  const drift = (['breaking', 'warning', 'info'] as const).map((severity): [Labels, number] => [
    { ...base, severity },
    run.drift.filter((finding) => finding.severity === severity).length,
  ]);
  const certificates = (['qwac', 'qsealc', 'bank'] as const).map((certificate): [Labels, number] => [
    { ...base, certificate },
    at(run.ends[certificate]),
  ]);
  const ended = Date.parse(run.startedAt) / 1000 + run.milliseconds / 1000;
  return [
    family('success', 'Whether the last smoke test passed (1) or not (0).', one(run.exitCode === 0 ? 1 : 0)),
    family(
      'step_success',
      'Whether a step passed. A step that did not run has not failed.',
      bySteps(({ status }) => (status === 'fail' ? 0 : 1)),
    ),
    family(
      'step_skipped',
      'Whether a step did not run.',
      bySteps(({ status }) => (status === 'skip' ? 1 : 0)),
    ),
    family(
      'step_duration_seconds',
      'How long a step took.',
      bySteps(({ milliseconds }) => milliseconds / 1000),
    ),
    family('duration_seconds', 'How long the last smoke test took.', one(run.milliseconds / 1000)),
    family(
      'last_run_timestamp_seconds',
      'When the last smoke test ended, in seconds since 1970.',
      one(ended),
    ),
    family(
      'last_success_timestamp_seconds',
      'When the last smoke test that passed began, in seconds since 1970; 0: none so far.',
      one(at(run.lastSuccessAt)),
    ),
    family('exit_code', 'Exit code of the last smoke test.', one(run.exitCode)),
    family('drift_findings', "Differences in the form of the bank's answers, by severity.", drift),
    family(
      'certificate_expiry_timestamp_seconds',
      'When a certificate ends, in seconds since 1970; 0: not known.',
      certificates,
    ),
    family(
      'consent_expiry_timestamp_seconds',
      'When the consent ends, in seconds since 1970; 0: not known.',
      one(at(run.ends.consent)),
    ),
    family('info', 'The version of psd2 and the bank.', [
      [{ ...base, version: run.version, bank: run.bank ?? '' }, 1],
    ]),
  ].join('');
}

function family(name: string, help: string, samples: readonly [Labels, number][]): string {
  const full = `psd2_smoke_${name}`;
  const lines = samples.map(([labels, value]) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${labelValue(text)}"`);
    return `${full}{${pairs.join(',')}} ${value}`;
  });
  return [`# HELP ${full} ${help}`, `# TYPE ${full} gauge`, ...lines, ''].join('\n');
}

function labelValue(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
