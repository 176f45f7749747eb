// Writes docs/reference.md and the man pages from the command tree: npm run docs
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
// Inside the repository, so that Node finds the packages.
const folder = mkdtempSync(join(process.cwd(), 'node_modules', '.docs-'));
try {
  const outfile = join(folder, 'pages.mjs');
  await build({
    entryPoints: ['scripts/docs/pages.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'warning',
  });
  const { writePages } = await import(pathToFileURL(outfile).href);
  const pages = Object.entries(await writePages(version));
  rmSync('man', { recursive: true, force: true });
  mkdirSync('man');
  for (const [path, content] of pages) writeFileSync(path, content);
  const man = pages.map(([path]) => path).filter((path) => path.startsWith('man/'));
  const packageFile = JSON.parse(readFileSync('package.json', 'utf8'));
  packageFile.man = man.map((path) => `./${path}`);
  writeFileSync('package.json', `${JSON.stringify(packageFile, null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
