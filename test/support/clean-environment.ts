/** Of psd2's variables, what the tests themselves take from the caller. */
const OF_TESTS = /^PSD2_(FUZZ|BENCH)_/;
const ODD =
  /^(PSD2_.*|NO_COLOR|FORCE_COLOR|CLICOLOR.*|COLUMNS|LINES|LC_.*|LANGUAGE|(HTTPS?|ALL|NO)_PROXY|BROWSER|PAGER|XDG_.*|SSH_(CONNECTION|TTY)|CI)$/i;

/** Removes what the caller's shell says of terminal, language, proxies and psd2. The tests' processes inherit the result. */
export function cleanEnvironment(): void {
  for (const name of Object.keys(process.env))
    if (ODD.test(name) && !OF_TESTS.test(name)) delete process.env[name];
  Object.assign(process.env, { TERM: 'xterm', LANG: 'C.UTF-8', TZ: 'UTC' });
  process.umask(0o022);
}
