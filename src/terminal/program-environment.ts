/** What a browser or a pager, which may be any program, has no business to inherit. */
export const SECRET_VARIABLES = [
  'PSD2_CLIENT_SECRET',
  'PSD2_CC_CLIENT_SECRET',
  'PSD2_KEY_PASSPHRASE',
  'PSD2_CONFIG_PASSPHRASE',
  // It may name an HSM with its PIN.
  'PSD2_SIGNER',
];

/** This process's environment for a program that it starts, without secrets. */
export function environmentForPrograms(): NodeJS.ProcessEnv {
  const env = { ...process.env };
  for (const secret of SECRET_VARIABLES) delete env[secret];
  return env;
}
