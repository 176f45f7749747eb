import { arch, platform } from 'node:process';
import { Psd2Error } from '../../errors.ts';
import { readCalls } from '../../store/machine/call-log.ts';
import { object, text, time, whole } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, type Verb } from '../declare.ts';
import { saveDocument } from '../shared/save-document.ts';
import { Pseudonyms } from './pseudonyms.ts';
import { type LogOptions, type ShownCall, selectCalls, withFlow, withSelection } from './select-calls.ts';

/** What `log bundle` reports about its file. */
const bundled = object({
  file: text('path of the file'),
  calls: whole('number of calls in the file'),
  from: time('time of the first call'),
  to: time('time of the last call'),
});

const ABOUT =
  "Calls to the bank's PSD2 interface, oldest first, for the bank's support. Names such as customer-1 replace " +
  'customers, accounts and IBANs; the same name means the same one throughout this file. Numbers of cards are masked. The file contains no ' +
  'queries, headers, bodies, tokens, keys or certificates. tppRequestId and transactionId are the TPP-Request-ID and ' +
  "TPP-Transaction-ID that psd2 sent, requestId is result.requestId of the bank's answer, apiTrackId is " +
  'cb-apitrack-id. Times are UTC.';

/** `psd2 log bundle`: saves calls in a file for the bank's support. A person can read the file before sending it. */
export const bundle: Verb = {
  prints: { what: 'what is in the file', shape: bundled },
  declare: (command, run, { version }) =>
    withSelection(command)
      .option('--file <path>', 'file to save the calls in; default: psd2-log-<time>.json here')
      .addHelpText(
        'after',
        `
psd2 replaces customers, accounts and IBANs with names (customer-1, account-1, ...). The ids that the bank's support
asks for stay. The file is JSON: read it before you send it.
${examples('psd2 log bundle --transaction tr-0mh8k2x7vq3ab', 'psd2 log bundle --failed --since 2h --file for-the-bank.json')}`,
      )
      .action((options) => run((context) => saveCalls(context, options, version))),
};

/** @throws Psd2Error `usage` if no call matches, `config` if psd2 cannot write the file */
async function saveCalls(
  context: Context,
  options: LogOptions & { file?: string | undefined },
  version: string,
): Promise<void> {
  const { output, terminal, world } = context;
  const calls = [...(await selectCalls(context, await withFlow(context, options)))].reverse();
  const [first] = calls;
  const last = calls.at(-1);
  if (!first || !last)
    throw new Psd2Error('usage', 'No call in the log matches, so psd2 saved no file', {
      hint: 'See the calls in the log with:',
      next: [['log']],
    });
  const made = world.now().toISOString();
  const file = options.file || `psd2-log-${made.slice(0, 19).replace(/[-:]/g, '').replace('T', '-')}.json`;
  const pseudonyms = new Pseudonyms();
  // A call that the bundle leaves out may show that a number in another one is an id.
  for (const call of readCalls(context.folder.log)) {
    pseudonyms.collectPath(call.path, call.route);
    for (const text of textsOf(call)) pseudonyms.collect(text);
  }
  const content = {
    about: ABOUT,
    made,
    psd2: version,
    node: process.versions.node,
    platform: `${platform} ${arch}`,
    hosts: [...new Set(calls.map(({ host }) => host))],
    calls: calls.map((call) => withoutIds(call, pseudonyms)),
  };
  await saveDocument(context, file, Buffer.from(`${JSON.stringify(content, null, 2)}\n`));
  terminal.say(
    [
      `The file contains ${calls.length} call${calls.length === 1 ? '' : 's'} to ${content.hosts.join(', ')} from ${terminal.writeTime(first.at)} to ${terminal.writeTime(last.at)}:`,
      '  times, methods, paths, statuses, durations, the ids of requests, transactions, resources and flows,',
      '  and the versions of psd2 and Node.js.',
      `Replaced: ${pseudonyms.summary}.`,
      'Left out: queries, headers, bodies, tokens, keys, certificates, the name of the profile.',
      'Read it before you send it.',
    ].join('\n'),
  );
  if (output.format !== 'table' && file !== '-')
    output.record({ file, calls: calls.length, from: first.at, to: last.at }, bundled);
}

/** The texts of a call that may contain ids of customers. */
function textsOf({ failure, ...call }: ShownCall): string[] {
  const ids = [call.tppRequestId, call.transactionId, call.requestId, call.apiTrackId];
  return [failure, ...ids].filter((text) => text !== null);
}

/** A call as the bundle contains it. */
function withoutIds({ profile: _, ...call }: ShownCall, pseudonyms: Pseudonyms): Omit<ShownCall, 'profile'> {
  const replaced = (text: string | null) => text && pseudonyms.replace(text);
  return {
    ...call,
    path: pseudonyms.replace(call.path),
    failure: replaced(call.failure),
    tppRequestId: pseudonyms.replace(call.tppRequestId),
    transactionId: pseudonyms.replace(call.transactionId),
    requestId: replaced(call.requestId),
    apiTrackId: replaced(call.apiTrackId),
  };
}
