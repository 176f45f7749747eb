import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { parseSync } from 'oxc-parser';

/** One file of `src` that names another, or a package. Paths are relative to `src`. */
export interface Import {
  from: string;
  /** A path where it begins with no dot in the source: a package, or a module of Node's. */
  to: string;
  isPackage: boolean;
  /** Nothing of it is there when the program runs. */
  isType: boolean;
}

/** The sources, relative to `src`. */
export function sourceFiles(): string[] {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).map((path) =>
    path.replaceAll('\\', '/'),
  );
  return files.filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts')).sort();
}

/** What the files of `src` import: of types, of values, and late. */
export function readImports(): Import[] {
  return sourceFiles().flatMap((file) => importsOf(file, readFileSync(`src/${file}`, 'utf8')));
}

/**
 * What one file imports and re-exports.
 *
 * @param file relative to `src`
 * @throws Error for a text that is not TypeScript, or if it names a file in a way that this does not count
 */
export function importsOf(file: string, text: string): Import[] {
  const { module, errors } = parseSync(file, text);
  if (errors[0]) throw new Error(`${file}: ${errors[0].message}`);
  const named = [
    ...module.staticImports.map(({ moduleRequest, entries }) => ({
      name: moduleRequest.value,
      isType: entries.length > 0 && entries.every((entry) => entry.isType),
    })),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest, isType }) =>
        moduleRequest ? [{ name: moduleRequest.value, isType }] : [],
      ),
    ),
    ...module.dynamicImports.map(({ moduleRequest }) => ({
      name: literalIn(file, text.slice(moduleRequest.start, moduleRequest.end)),
      isType: false,
    })),
  ];
  // import('./file.ts').Type is no import to the parser.
  const late = module.dynamicImports.map(({ start }) => start);
  for (const { index } of text.matchAll(/\bimport\(\s*['"`]\./g)) {
    if (!late.includes(index))
      throw new Error(`${file}: write import type for a file that is named in a type`);
  }
  return named.map(({ name, isType }) => {
    const isPackage = !name.startsWith('.');
    return { from: file, to: isPackage ? name : posix.join(posix.dirname(file), name), isPackage, isType };
  });
}

function literalIn(file: string, text: string): string {
  const [, name] = /^['"]([^'"]+)['"]$/.exec(text) ?? [];
  if (name === undefined) throw new Error(`${file}: import(${text}) does not say what it imports`);
  return name;
}
