import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { blocksOf } from '../../docs/pages.ts';
import { freePort } from '../../support/free-port.ts';
import { PROGRAM, useLoggedIn, useOperator } from '../support/psd2.ts';

// The jobs on the page about smoke tests, as they are printed. Only places are others: ports, folders, the profile.

const bare = useOperator();
const loggedIn = useLoggedIn();
const texts = (language: string) =>
  blocksOf('docs/smoke.md').flatMap((block) => (block.language === language ? [block.text] : []));
const [github = '', gitlab = '', kubernetes = ''] = texts('yaml');

beforeAll(() => {
  for (const { folder } of [bare, loggedIn]) {
    mkdirSync(join(folder, 'bin'), { recursive: true });
    const psd2 = `"${process.execPath}" "${PROGRAM}"`;
    // Other tests use the sandbox's usual port.
    const command = `case "$1 $2" in "sandbox start") exec ${psd2} "$@" --port 0;; *) exec ${psd2} "$@";; esac`;
    const programs = { psd2: command, npm: 'echo "npm $*"' };
    for (const [name, text] of Object.entries(programs)) {
      writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${text}\n`);
      chmodSync(join(folder, 'bin', name), 0o755);
    }
  }
});

/** Runs lines in one shell each, in a folder, as the runner of a CI does. @returns the exit codes */
async function runLines(who: typeof bare, lines: string[], variables: Record<string, string>) {
  const port = await freePort();
  const env = {
    ...{ PATH: `${join(who.folder, 'bin')}:${process.env.PATH}`, HOME: who.home },
    PSD2_REDIRECT_URI: `http://127.0.0.1:${port}/callback`,
    ...variables,
  };
  const codes: (number | null)[] = [];
  for (const line of lines) {
    const running = await who.startProgram('bash', ['-ec', `cd "${who.ownHands}"; ${line}`], env);
    running.closeInput();
    const { code, stderr } = await running.ended;
    if (code !== 0) process.stderr.write(`${line}: ${stderr}\n`);
    codes.push(code);
  }
  return codes;
}

const variables = z.record(z.string(), z.string());
const steps = z.object({
  jobs: z.object({
    smoke: z.object({ env: variables, steps: z.array(z.looseObject({ run: z.string().optional() })) }),
  }),
});
const script = z.object({
  'bank-smoke': z.object({
    ...{ variables, script: z.array(z.string()), after_script: z.array(z.string()) },
  }),
});
const containers = z.object({
  spec: z.object({
    jobTemplate: z.object({
      spec: z.object({
        template: z.object({
          spec: z.object({ containers: z.array(z.object({ args: z.array(z.string()) })) }),
        }),
      }),
    }),
  }),
});

it.each<[string, () => { env: Record<string, string>; lines: string[] }]>([
  [
    'GitHub',
    () => {
      const { env, steps: each } = steps.parse(parse(github)).jobs.smoke;
      return { env, lines: each.flatMap(({ run }) => run ?? []) };
    },
  ],
  [
    'GitLab',
    () => {
      const {
        variables: env,
        script: lines,
        after_script: after,
      } = script.parse(parse(gitlab))['bank-smoke'];
      return { env, lines: [...lines, ...after] };
    },
  ],
])('the job for %s runs as printed, and leaves its report and its log', async (name, read) => {
  const { env, lines } = read();
  mkdirSync(bare.ownHands, { recursive: true });
  const places = {
    ...{ PSD2_CONFIG_DIR: join(bare.folder, name), RUNNER_TEMP: bare.folder },
    GITHUB_ENV: join(bare.folder, `${name}.env`),
  };
  const codes = await runLines(
    bare,
    [...lines, 'psd2 log bundle --file psd2-log.json', 'psd2 sandbox stop'],
    {
      ...env,
      ...places,
    },
  );
  expect(codes).toEqual(codes.map(() => 0));
  for (const file of ['smoke.xml', 'psd2-log.json']) expect(existsSync(join(bare.ownHands, file))).toBe(true);
});

it('the commands of the crontab, of systemd and of Kubernetes run as printed', async () => {
  mkdirSync(loggedIn.ownHands, { recursive: true });
  const cron = (texts('crontab')[0] ?? '').split('\n').flatMap((line) => {
    const [, command = ''] = /^(?:[\d*/]+ +){5}(.*)$/.exec(line) ?? [];
    return command === '' ? [] : [command.replace('/var/lib/node_exporter', loggedIn.folder)];
  });
  const [, start = ''] = /^ExecStart=(.*)$/m.exec(texts('ini')[0] ?? '') ?? [];
  const [{ args = [] } = {}] = containers.parse(parse(kubernetes)).spec.jobTemplate.spec.template.spec
    .containers;
  const unit = start.replace('/usr/local/bin/', '').replace('/var/lib/psd2', loggedIn.folder);
  const lines = [...cron, unit, `psd2 ${args.join(' ')}`];
  expect(lines).toHaveLength(4);
  const { PSD2_CONFIG_DIR = '' } = loggedIn.env;
  const env = { PSD2_CONFIG_DIR, PSD2_NO_INPUT: '1', PSD2_PROFILE: 'sandbox' };
  expect(await runLines(loggedIn, lines, env)).toEqual([0, 0, 0, 0]);
  expect(existsSync(join(loggedIn.folder, 'psd2-mybank.prom'))).toBe(true);
  expect(existsSync(join(loggedIn.home, 'smoke.txt'))).toBe(true);
});
