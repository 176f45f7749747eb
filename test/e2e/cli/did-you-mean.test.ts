import { expect, it } from 'vitest';
import { readError } from '../support/errors.ts';
import { keepRunning, useSandbox } from '../support/psd2.ts';

const operator = keepRunning(useSandbox());

it.concurrent.each([
  [['acounts', 'list'], "Unknown command 'acounts'", /^Did you mean accounts\?$/],
  [['login'], "Unknown command 'login'", /^A customer logs in with: psd2 auth login$/],
  [['whoami'], "Unknown command 'whoami'", /: {2}psd2 auth status\n.*: {4}psd2 status$/],
  [['accounts', 'lst'], "Unknown command 'lst'", /^Did you mean list\?$/],
  // These groups have a default command. It must not take the word as its argument.
  [['transfer', 'lsit'], "Unknown command 'lsit'", /^Did you mean list\?$/],
  [['log', 'bundel'], "Unknown command 'bundel'", /^Did you mean bundle\?$/],
  [['transfer', 'xyzzy'], /^Unknown command 'xyzzy'$/, /: psd2 --help$/],
  [['xyzzy', '--help'], "Unknown command 'xyzzy'", /: psd2 --help$/],
  [['trasfer', '--help'], "Unknown command 'trasfer'", /^Did you mean transfer\?$/],
  [['transfer', 'lsit', '-h'], "Unknown command 'lsit'", /^Did you mean list\?$/],
  [['help', 'xyzzy'], "There is no help on 'xyzzy'", /: psd2 --help$/],
  [['accounts', 'list', '--prfile', 'x'], "Unknown option '--prfile'", /^Did you mean --profile\?$/],
  [['auth', 'login', '--no-broswer'], "Unknown option '--no-broswer'", /^Did you mean --no-browser\?$/],
  [['--grant', 'client_credential', 'log'], /Allowed choices are/, /^Did you mean client_credentials\?$/],
  [['completion', 'bsh'], /Allowed choices are bash, zsh, fish/, /^Did you mean bash\?$/],
  [['help', 'exit-code'], "There is no help on 'exit-code'", /^Did you mean exit-codes\?$/],
  // A property of every JavaScript object is not a shell or a topic.
  [['completion', 'constructor'], /Allowed choices are bash, zsh, fish/, /^Add --help/],
  [['help', '__proto__'], "There is no help on '__proto__'", /: psd2 --help$/],
  [['help', 'transfr'], "There is no help on 'transfr'", /^Did you mean transfer\?$/],
  [
    ['profile', 'use', 'sandbx'],
    'There is no profile "sandbx"',
    /^Did you mean sandbox\? Existing profiles: sandbox, sandbox-nextgen\.$/,
  ],
  [['accounts', 'list', '--profile', 'sanbox'], 'There is no profile "sanbox"', /^Did you mean sandbox\? /],
  [['-o', 'jsn', 'log'], 'The output format "jsn" is not known', /^Did you mean json\? /],
])('psd2 %j names the mistake, and a correction if one is close', async (args, message, hint) => {
  const error = readError(await operator.psd2([...args, '--json']));
  expect(error.message).toMatch(message);
  expect(error.hint).toMatch(hint);
});
