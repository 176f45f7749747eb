/** What psd2 starts: a program of the system or of the operator, or psd2 itself. */
export type ProgramKind =
  | 'browser'
  | 'pager'
  | 'signer'
  | 'payeeCheck'
  | 'notify'
  | 'notifyLink'
  | 'sandbox'
  | 'demo';

/**
 * The variables of psd2 that each program needs. psd2 withholds all its other variables, including future ones: they
 * contain secrets, or commands whose arguments may be secret. It passes on all variables that are not psd2's own (a
 * display, a PIN for an HSM).
 */
const NEEDED: Readonly<Record<ProgramKind, readonly string[]>> = {
  // It may be `psd2 sandbox customer`.
  browser: ['PSD2_CONFIG_DIR'],
  pager: [],
  signer: [],
  payeeCheck: [],
  notify: [],
  notifyLink: [],
  // psd2 in the background. It stores a profile, which may be protected.
  sandbox: ['PSD2_CONFIG_DIR', 'PSD2_CONFIG_PASSPHRASE'],
  // psd2 with its own configuration folder.
  demo: [],
};

/** Windows ignores case in names of variables. */
const OWN = /^PSD2_/i;

/** This process's environment for a program that it starts, without the variables that the program does not need. */
export function environmentFor(kind: ProgramKind): NodeJS.ProcessEnv {
  const withheld = new Set(withheldFrom(kind));
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !withheld.has(name)));
}

/** The variables of this process's environment that a program does not get. */
export function withheldFrom(kind: ProgramKind): string[] {
  return Object.keys(process.env).filter(
    (name) => OWN.test(name) && !NEEDED[kind].includes(name.toUpperCase()),
  );
}
