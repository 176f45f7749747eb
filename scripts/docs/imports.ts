import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { parseSync } from 'oxc-parser';

/** An import in a file of `src`, of another file or of a package. Paths are relative to `src`. */
export interface Import {
  from: string;
  /** The import does not begin with a dot: it is a package or a module of Node. */
  to: string;
  isPackage: boolean;
  /** Only types are imported: nothing is left of it when the program runs. */
  isType: boolean;
}

/** The sources, relative to `src`. */
export function sourceFiles(): string[] {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).map((path) =>
    path.replaceAll('\\', '/'),
  );
  return files.filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts')).sort();
}

/** All imports of the files of `src`: types, values, and dynamic imports. */
export function readImports(): Import[] {
  return sourceFiles().flatMap((file) => importsOf(file, readFileSync(`src/${file}`, 'utf8')));
}

/**
 * What one file imports and re-exports.
 *
 * @param file relative to `src`
 * @throws Error if the text is not TypeScript, or imports a file in a way that this function can't read
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
  // The parser does not report import('./file.ts').Type as an import.
  const late = module.dynamicImports.map(({ start }) => start);
  for (const { index } of text.matchAll(/\bimport\(\s*['"`]\./g)) {
    if (!late.includes(index)) throw new Error(`${file}: use import type instead of import() in a type`);
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
