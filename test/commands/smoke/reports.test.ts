import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { printLines } from '../../../src/commands/smoke/print.ts';
import {
  pluginCode,
  readReports,
  takesStdout,
  type Wanted,
  writeReports,
} from '../../../src/commands/smoke/reports.ts';
import { writeJunit, writeNagios, writeTap } from '../../../src/smoke/reports/formats.ts';
import { writeMarkdown } from '../../../src/smoke/reports/markdown.ts';
import { writePrometheus } from '../../../src/smoke/reports/prometheus.ts';
import { failure, runWith } from '../../smoke/runs.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { thrownBy } from '../../support/thrown.ts';
import { type How, openCommand } from '../command.ts';

const temporary = temporaryFolder();
/** A folder of a test's own. */
function newFolder(): string {
  const { root } = newConfigFolder(temporary);
  mkdirSync(root, { recursive: true });
  return root;
}
const NOW = '2026-11-26T12:00:00.000Z';
const open = (how: How = {}) => openCommand(newConfigFolder(temporary), NOW, { format: 'table', ...how });
const GITHUB = { GITHUB_ACTIONS: 'true' };
const STDOUT: Wanted = { form: 'github', file: '-' };

it.each<[given: string, Wanted]>([
  ['junit=r.xml', { form: 'junit', file: 'r.xml' }],
  ['tap=-', { form: 'tap', file: '-' }],
  ['prometheus=a=b', { form: 'prometheus', file: 'a=b' }],
  ['nagios=x', { form: 'nagios', file: 'x' }],
  ['markdown=x.xml', { form: 'markdown', file: 'x.xml' }],
  ['json=x', { form: 'json', file: 'x' }],
  ['github', STDOUT],
  ['github=-', STDOUT],
  ['r.xml', { form: 'junit', file: 'r.xml' }],
  ['a/r.tap', { form: 'tap', file: 'a/r.tap' }],
  ['r.prom', { form: 'prometheus', file: 'r.prom' }],
  ['r.md', { form: 'markdown', file: 'r.md' }],
  ['r.xml.json', { form: 'json', file: 'r.xml.json' }],
])('--report %s', (given, wanted) => {
  expect(readReports(open().context, [given])).toEqual([wanted]);
});

it.each(['junit', 'x=r.xml', 'r.txt', 'r', 'junit=', 'github=file', 'tap', 'xml'])(
  '--report %j is refused',
  (given) => {
    expect(thrownBy(() => readReports(open().context, [given]))).toMatchObject({
      ...{ code: 'usage', message: `--report ${JSON.stringify(given)} names no form of report and its file` },
      context: {
        hint: 'Write <form>=<file> with one of junit, tap, github, prometheus, nagios, markdown, json, or a file that ends in .xml, .tap, .prom, .md, .json. The file - is standard output.',
      },
    });
  },
);

it.each<[given: string[], How, wanted: Wanted[] | 'refused']>([
  [[], {}, []],
  [[], { env: GITHUB }, [STDOUT]],
  [[], { env: { GITHUB_ACTIONS: 'false' } }, []],
  [[], { env: GITHUB, format: 'json' }, []],
  [['github'], { env: GITHUB }, [STDOUT]],
  [['tap=-'], { env: GITHUB }, [{ form: 'tap', file: '-' }]],
  [['r.xml'], { env: GITHUB }, [{ form: 'junit', file: 'r.xml' }, STDOUT]],
  [
    ['r.xml', 'tap=-'],
    {},
    [
      { form: 'junit', file: 'r.xml' },
      { form: 'tap', file: '-' },
    ],
  ],
  [['r.xml'], { format: 'json' }, [{ form: 'junit', file: 'r.xml' }]],
  [['nagios=-', 'tap=-'], {}, 'refused'],
  [['github', 'tap=-'], {}, 'refused'],
  [['tap=-'], { format: 'json' }, 'refused'],
])('the reports %j with %j', (given, how, wanted) => {
  const read = () => readReports(open(how).context, given);
  if (wanted !== 'refused') expect(read()).toEqual(wanted);
  else
    expect(thrownBy(read)).toMatchObject({
      ...{ code: 'usage', message: 'Only one document can be written to standard output' },
      context: { hint: 'Give the other reports a file, and leave out --json.' },
    });
});

it.each<[Wanted[], takes: boolean, code: number | undefined]>([
  [[], false, undefined],
  [[STDOUT], false, undefined],
  [
    [
      { form: 'tap', file: 'x' },
      { form: 'nagios', file: 'y' },
    ],
    false,
    2,
  ],
  [
    [
      { form: 'tap', file: 'x' },
      { form: 'json', file: '-' },
    ],
    true,
    undefined,
  ],
])('of the reports %j, one takes stdout: %s; exit code of a plugin: %s', (wanted, takes, code) => {
  expect(takesStdout(wanted)).toBe(takes);
  expect(pluginCode(wanted, runWith({}, { exitCode: 5 }))).toBe(code);
});

const RUN = runWith(
  {
    balance: { status: 'fail', error: failure('no') },
    login: {
      calls: [
        { method: 'GET', route: '/', status: 200, milliseconds: 1, tppRequestId: 'q', requestId: null },
      ],
    },
  },
  { exitCode: 7, result: 'fail' },
);
/** Writes reports. @returns what was written to stdout */
function written(wanted: Wanted[], env = {}): string {
  const bytes: string[] = [];
  const changes = () => ({ printBytes: (some: Uint8Array) => void bytes.push(Buffer.from(some).toString()) });
  writeReports(open({ env, changes }).context, wanted, RUN, 700);
  return bytes.join('');
}

it('each form is written to a file or to stdout', () => {
  const root = newFolder();
  for (const [form, text] of [
    ['junit', writeJunit(RUN)],
    ['tap', writeTap(RUN)],
    ['prometheus', writePrometheus(RUN)],
    ['nagios', writeNagios(RUN, 700)],
    ['markdown', writeMarkdown(RUN)],
    ['json', `${JSON.stringify(RUN)}\n`],
  ] as const) {
    const file = join(root, form);
    expect(written([{ form, file }])).toBe('');
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(written([{ form, file: '-' }])).toBe(text);
  }
});

it('GitHub gets commands on stdout, and the summary and outputs at the end of its files', () => {
  const root = newFolder();
  const [summary, outputs] = [join(root, 'summary'), join(root, 'outputs')];
  writeFileSync(summary, 'before\n');
  const env = { GITHUB_STEP_SUMMARY: summary, GITHUB_OUTPUT: outputs };
  expect(written([STDOUT], env)).toMatch(/^::error title=psd2 smoke mybank%3A balance::no/);
  expect(readFileSync(summary, 'utf8')).toBe(`before\n${writeMarkdown(RUN)}`);
  const [, delimiter = ''] = /^result<<(psd2_[0-9a-f-]{36})\n/.exec(readFileSync(outputs, 'utf8')) ?? [];
  expect(readFileSync(outputs, 'utf8')).toContain(`failed<<${delimiter}\nbalance\n${delimiter}\n`);
  // Without these files, and with nothing to say, it writes nothing.
  expect(written([STDOUT])).toMatch(/^::error/);
  const passed = { ...RUN, steps: [] };
  const bytes: Uint8Array[] = [];
  writeReports(
    open({ changes: () => ({ printBytes: (some) => void bytes.push(some) }) }).context,
    [STDOUT],
    passed,
    1,
  );
  expect(bytes).toEqual([]);
});

it('a report that cannot be written does not stop the others, and the first failure is the one that is told', () => {
  const root = newFolder();
  const nowhere = (name: string): Wanted => ({ form: 'junit', file: join(root, 'none', name) });
  const file = join(root, 'r.tap');
  const wanted: Wanted[] = [nowhere('a.xml'), nowhere('b.xml'), { form: 'tap', file }];
  const error = thrownBy(() => written(wanted));
  expect(error).toMatchObject({ code: 'config', message: expect.stringContaining('a.xml') });
  expect(readFileSync(file, 'utf8')).toBe(writeTap(RUN));
  mkdirSync(join(root, 'folder'));
  expect(thrownBy(() => written([STDOUT], { GITHUB_OUTPUT: join(root, 'folder') }))).toMatchObject({
    ...{ code: 'config', message: `The file ${join(root, 'folder')} of GitHub Actions could not be written` },
  });
});

const LONG = {
  begin: '  ✗ balance   31 ms',
  texts: ['It is gone, and nobody knows where (exit 7)', 'psd2 log --run sm-1'],
};
it.each<[columns: number | undefined, lines: string[]]>([
  [undefined, ['  ✗ balance   31 ms  It is gone, and nobody knows where (exit 7)  psd2 log --run sm-1']],
  [85, ['  ✗ balance   31 ms  It is gone, and nobody knows where (exit 7)  psd2 log --run sm-1']],
  [
    84,
    [
      '  ✗ balance   31 ms  It is gone, and nobody knows where (exit 7)',
      '                     psd2 log --run sm-1',
    ],
  ],
  [
    51,
    [
      '  ✗ balance   31 ms  It is gone, and nobody knows',
      '                     where (exit 7)',
      '                     psd2 log --run sm-1',
    ],
  ],
  [50, ['  ✗ balance   31 ms', '    It is gone, and nobody knows where (exit 7)', '    psd2 log --run sm-1']],
])('in a terminal of %s columns a line is broken between words', (columns, lines) => {
  const { context, printed } = open({ ...(columns !== undefined && { columns }) });
  printLines(context, [], [LONG]);
  expect(printed().trimEnd().split('\n')).toEqual(lines);
});

it('a line without a beginning, or with nothing behind it, is as wide as it is', () => {
  const lines = (columns: number, begin: string, ...texts: string[]) => {
    const { context, printed } = open({ columns });
    printLines(context, [], [{ begin, texts }]);
    return printed().trimEnd().split('\n');
  };
  expect(lines(30, '', 'one two three four five six seven')).toEqual([
    'one two three four five six',
    'seven',
  ]);
  expect(lines(12, 'mybank'.padEnd(64))).toEqual(['mybank']);
  expect(lines(40, 'mybank'.padEnd(64), 'run sm-1')).toEqual(['mybank  run sm-1']);
  expect(lines(80, 'mybank'.padEnd(64), '', 'run sm-1')).toEqual([`${'mybank'.padEnd(64)}  run sm-1`]);
  expect(lines(80, 'a\u{1B}[31m', 'b\u{7}')).not.toContain('\u{1B}');
});

it.each<[stdout: number, stderr: number | undefined, wanted: Wanted[], isBroken: boolean]>([
  [40, 200, [], true],
  [200, 40, [], false],
  [40, 200, [{ form: 'tap', file: '-' }], false],
  [200, 40, [{ form: 'tap', file: '-' }], true],
  [40, undefined, [{ form: 'tap', file: '-' }], false],
])(
  'lines fit the terminal that shows them: stdout %j, stderr %j, with %j',
  (columns, own, wanted, isBroken) => {
    const { context, printed, said } = open({
      columns,
      changes: ({ terminal }) => ({ terminal: { ...terminal, size: { columns: own, rows: 24 } } }),
    });
    printLines(context, wanted, [LONG]);
    const shown = wanted.length > 0 ? said() : printed();
    expect(shown.trimEnd().split('\n').length > 1).toBe(isBroken);
  },
);

it('lines for people leave stdout to a report, and to JSON', () => {
  const line = { begin: '', texts: ['8 passed'] };
  const at = (how: How, wanted: Wanted[]) => {
    const { context, printed, said } = open(how);
    printLines(context, wanted, [line, line]);
    return [printed(), said()];
  };
  expect(at({}, [STDOUT])).toEqual(['8 passed\n8 passed\n', '']);
  expect(at({}, [{ form: 'tap', file: '-' }])).toEqual(['', '8 passed\n8 passed\n']);
  expect(at({ format: 'json' }, [])).toEqual(['', '']);
});
