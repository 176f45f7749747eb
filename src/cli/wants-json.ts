/** Before the options are read: whether the error is wanted as JSON. */
export function wantsJson(): boolean {
  const words = process.argv.slice(2);
  const at = words.findIndex((word) => /^(-o|--output(=|$))/.test(word));
  const named = words[at]?.replace(/^(-o|--output=?)/, '') || words[at + 1];
  const output = at === -1 ? process.env.PSD2_OUTPUT : named;
  const isQuery = words.some((word) => /^--query(=|$)/.test(word)) && !output;
  return words.includes('--json') || isQuery || output === 'json' || output === 'ndjson';
}
