import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { SCHEMA } from '../../src/store/postgres/schema.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';

const PAGE = readFileSync('docs/store.md', 'utf8');
const folder = temporaryFolder();

/** The code blocks of a language on the page, in order. */
function examples(language: string): string[] {
  const blocks = PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'));
  return [...blocks].map(([, text = '']) => text);
}

const container = z.object({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()),
  env: z.array(z.strictObject({ name: z.string(), value: z.string() })),
  envFrom: z.array(z.strictObject({ secretRef: z.strictObject({ name: z.string() }) })),
  volumeMounts: z.array(
    z.strictObject({ name: z.string(), mountPath: z.string(), readOnly: z.literal(true).optional() }),
  ),
});
const pod = z.object({
  securityContext: z.object({ runAsNonRoot: z.literal(true) }),
  containers: z.array(container).length(1),
  volumes: z.array(z.looseObject({ name: z.string() })),
});
const deployment = z.object({
  kind: z.literal('Deployment'),
  spec: z.object({
    selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
    template: z.object({ metadata: z.object({ labels: z.record(z.string(), z.string()) }), spec: pod }),
  }),
});
describe('the page about the store', () => {
  it('the store page has a worker that systemd accepts', () => {
    mkdirSync(join(folder, 'units'), { recursive: true });
    const [service = ''] = examples('ini');
    const unit = join(folder, 'units', 'psd2-worker.service');
    writeFileSync(unit, service.replace('/usr/local/bin/psd2', process.execPath));
    const args = ['verify', '--man=no', '--recursive-errors=no', unit];
    const { status, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    expect({ status, said: stderr.split('\n').filter((line) => line.includes('psd2-worker')) }).toEqual({
      status: 0,
      said: [],
    });
  });

  it('the store page has a Deployment that is complete, and no secret in plain text', () => {
    const [text = ''] = examples('yaml');
    const { spec } = deployment.parse(parse(text));
    expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels);
    const { containers, volumes } = spec.template.spec;
    const [psd2] = containers;
    expect(psd2?.args.slice(0, 2)).toEqual(['sync', '--all-customers']);
    expect(psd2?.volumeMounts.map(({ name }) => name)).toEqual(volumes.map(({ name }) => name));
    for (const { name, value } of psd2?.env ?? []) {
      expect(name).not.toMatch(/PASSWORD|PASSPHRASE|SECRET/);
      expect(value).not.toMatch(/\/\/[^/@]*:[^/@]*@/);
    }
  });

  it('the store page names every column of the tables that are stable', () => {
    const tables = new Map(
      [...SCHEMA.matchAll(/^create table psd2\.(\w+) \(\n(.*?)^\)/gms)].map(([, name = '', body = '']) => [
        name,
        body,
      ]),
    );
    for (const table of ['accounts', 'balances', 'transactions', 'pending_transactions', 'sync_progress']) {
      const section = PAGE.split(`\n### \`${table}\`\n`)[1]?.split('\n### ')[0];
      const body = tables.get(table) ?? expect.fail(`The schema has no table ${table}`);
      for (const [, column] of body.matchAll(/^ {2}(?!primary|foreign|constraint)(\w+) /gm))
        expect(section, table).toContain(`\`${column}\``);
    }
  });
});
