/** The names in a path as a lenient server would read them: decoded, in small letters, without parameters. A `..` is one of them. */
export function lenientNames(path: string): string[] {
  let text = path.split(/[?#]/, 1)[0] ?? '';
  // A proxy may decode the path before the bank does.
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
  // Drop matrix parameters, an encoded query and invisible characters.
  return text
    .split(/[/\\]/)
    .map((name) => (name.split(/[;?#]/, 1)[0] ?? '').replace(/[^\x21-\x7e]/g, '').toLowerCase())
    .filter((name) => name !== '' && name !== '.');
}

/** The names that are left once each `..` has removed the name before it. */
export function namesLeft(names: readonly string[]): string[] {
  const left: string[] = [];
  for (const name of names) {
    if (name === '..') left.pop();
    else left.push(name);
  }
  return left;
}
