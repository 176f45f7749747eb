/** What psd2 starts: a program of the system's or the operator's, or itself. */
export type ProgramKind = 'browser' | 'pager' | 'signer' | 'payeeCheck' | 'notify' | 'sandbox' | 'demo';

/**
 * Of psd2's own variables, those that a program needs. All others are withheld from it, also those that are to come: they
 * hold secrets, or commands whose arguments may be some. What is not psd2's (a display, a PIN for an HSM) is passed on.
 */
const NEEDED: Readonly<Record<ProgramKind, readonly string[]>> = {
  // It may be `psd2 sandbox customer`.
  browser: ['PSD2_CONFIG_DIR'],
  pager: [],
  signer: [],
  payeeCheck: [],
  notify: [],
  // psd2 in the background, which stores a profile: it may be a protected one.
  sandbox: ['PSD2_CONFIG_DIR', 'PSD2_CONFIG_PASSPHRASE'],
  // psd2 in a world of its own.
  demo: [],
};

/** Windows does not tell capitals from small letters in names. */
const OWN = /^PSD2_/i;

/** This process's environment for a program that it starts, without what that has no business to know. */
export function environmentFor(kind: ProgramKind): NodeJS.ProcessEnv {
  const withheld = new Set(withheldFrom(kind));
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !withheld.has(name)));
}

/** The variables of this process's environment that such a program does not get. */
export function withheldFrom(kind: ProgramKind): string[] {
  return Object.keys(process.env).filter(
    (name) => OWN.test(name) && !NEEDED[kind].includes(name.toUpperCase()),
  );
}
