import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { build } from 'esbuild';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const readText = (...path: string[]) => readFileSync(join(ROOT, ...path), 'utf8');

const manifest = z.object({ name: z.string(), version: z.string() });
const component = z.object({
  name: z.string(),
  version: z.string(),
  scope: z.string(),
  purl: z.string(),
  hashes: z.tuple([z.object({ alg: z.literal('SHA-512'), content: z.string() })]),
  licenses: z.array(
    z.union([z.object({ license: z.object({ id: z.string() }) }), z.object({ expression: z.string() })]),
  ),
});
const bill = z.object({
  components: z.array(component),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) })),
});

const readBill = () => bill.parse(JSON.parse(readText('sbom.cdx.json')));
const named = ({ name, version }: { name: string; version: string }) => `${name} ${version}`;

/** `name version` of all packages in the bundle, as esbuild reports them. The scripts under test are not used. */
async function packagesOfBundle(): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['src/main.ts'],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    outdir: 'nowhere',
    splitting: true,
    mainFields: ['module', 'main'],
    // The build leaves out what psd2 does not use of conf, and what adds nothing but types.
    alias: { '@commander-js/extra-typings': 'commander' },
    external: ['@napi-rs/keyring', 'ajv', 'ajv-formats', 'debounce-fn', 'semver', 'when-exit'],
    logLevel: 'silent',
  });
  const folders = Object.keys(metafile.inputs).flatMap(
    (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
  );
  return [...new Set(folders)]
    .map((folder) => named(manifest.parse(JSON.parse(readText(folder, 'package.json')))))
    .sort();
}

describe('the lists of bundled packages', () => {
  it('THIRD-PARTY-NOTICES.txt has the licence text of each bundled package, and of no other', async () => {
    const parts = readText('THIRD-PARTY-NOTICES.txt').split(/^-{80}\n(?=\S+ [\d.]+, \S)/m);
    const texts = parts.slice(1).map((part) => {
      const [heading = '', ...text] = part.split('\n');
      return { heading: heading.split(',')[0], text: text.join('\n') };
    });
    expect(texts.map(({ heading }) => heading).sort()).toEqual(await packagesOfBundle());
    for (const { heading, text } of texts)
      expect(text, heading).toMatch(/copyright|permission (is|to) |^MIT OR/i);
    const zod = readText('node_modules', 'zod', 'LICENSE').trim();
    expect(texts.find(({ heading }) => heading?.startsWith('zod '))?.text).toContain(zod);
  });

  it('sbom.cdx.json is valid CycloneDX 1.6', () => {
    const library = createRequire(import.meta.url).resolve('@cyclonedx/cyclonedx-library/package.json');
    const schema = (name: string): object =>
      JSON.parse(readFileSync(join(dirname(library), 'res/schema', `${name}.SNAPSHOT.schema.json`), 'utf8'));
    const ajv = new Ajv({ strict: false, formats: { 'iri-reference': true, 'idn-email': true } });
    addFormats.default(ajv);
    ajv.addSchema(schema('spdx'), 'http://cyclonedx.org/schema/spdx.SNAPSHOT.schema.json');
    ajv.addSchema(schema('jsf-0.82'), 'http://cyclonedx.org/schema/jsf-0.82.SNAPSHOT.schema.json');
    const validate = ajv.compile(schema('bom-1.6'));
    validate(JSON.parse(readText('sbom.cdx.json')));
    expect(validate.errors).toBeNull();
  });

  it('sbom.cdx.json names each bundled package, with its licence and the hash of its archive', async () => {
    const { components, dependencies } = readBill();
    const required = components.filter(({ scope }) => scope === 'required');
    expect(required.map(named).sort()).toEqual(await packagesOfBundle());
    for (const { name, version, purl, hashes } of required) {
      expect(purl).toBe(`pkg:npm/${name.replace('@', '%40')}@${version}`);
      const sha512 = Buffer.from(hashes[0].content, 'hex').toString('base64');
      expect(readText('package-lock.json')).toContain(`"integrity": "sha512-${sha512}"`);
    }
    // The packages that psd2 imports, directly or indirectly.
    const { name: own, version } = manifest.parse(JSON.parse(readText('package.json')));
    const reached = new Set([`pkg:npm/${own}@${version}`]);
    for (const ref of reached) {
      for (const each of dependencies.find((some) => some.ref === ref)?.dependsOn ?? []) reached.add(each);
    }
    expect([...reached].slice(1).sort()).toEqual(components.map(({ purl }) => purl).sort());
  });

  it('sbom.cdx.json names the keyring, which is not bundled, as optional', () => {
    const optional = readBill().components.filter(({ scope }) => scope === 'optional');
    expect(optional.map(({ name }) => name)).toContain('@napi-rs/keyring');
    expect(optional.filter(({ name }) => !name.startsWith('@napi-rs/keyring'))).toEqual([]);
  });

  it('THIRD-PARTY-NOTICES.txt and sbom.cdx.json are in the npm package', () => {
    const packed = z.tuple([z.object({ files: z.array(z.object({ path: z.string() })) })]).parse(
      JSON.parse(
        execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
          cwd: ROOT,
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore'],
        }),
      ),
    );
    const paths = packed[0].files.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['THIRD-PARTY-NOTICES.txt', 'sbom.cdx.json']));
  });
});

it('npm run check refuses bundled packages without a permissive licence, and nothing else', () => {
  const folder = mkdtempSync(join(tmpdir(), 'psd2-licences-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const licences: Record<string, string | undefined> = {
    permissive: 'BSD-2-Clause',
    choice: '(GPL-3.0-only OR MIT)',
    'small-letters': 'MIT or MPL-2.0',
    weak: 'MPL-2.0',
    strong: 'MIT AND GPL-3.0-or-later',
    exception: 'GPL-2.0-only WITH Classpath-exception-2.0',
    unknown: 'SEE LICENSE IN LICENSE.txt',
    none: undefined,
  };
  for (const [name, license] of Object.entries(licences)) {
    write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', license }));
    write(`node_modules/${name}/index.js`, 'export {};');
  }
  // The build names these.
  for (const [, source = ''] of readText('scripts/bundle.js').matchAll(/'(src\/[^*']+\.ts)'/g))
    write(source, '');
  write('src/bank-file/rules.ts', '');
  for (const name of ['zod', 'string-width'])
    write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', license: 'MIT' }));
  write('node_modules/string-width/index.js', 'export default () => 0;');
  write('node_modules/zod/mini/index.js', 'export const [coerce, iso, object] = [];');
  write(
    'src/main.ts',
    Object.keys(licences)
      .map((name) => `import '${name}';`)
      .join('\n'),
  );
  write('package.json', JSON.stringify({ name: 'x', version: '1.0.0' }));
  write('package-lock.json', JSON.stringify({ packages: { '': {} } }));
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts/licences.js')], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  expect(stderr.split('\n').slice(1, -1).sort()).toEqual([
    'exception 1.0.0: GPL-2.0-only WITH Classpath-exception-2.0',
    'none 1.0.0: no licence',
    'strong 1.0.0: MIT AND GPL-3.0-or-later',
    'unknown 1.0.0: SEE LICENSE IN LICENSE.txt',
    'weak 1.0.0: MPL-2.0',
  ]);
  const { scripts } = z
    .object({ scripts: z.object({ 'check:licences': z.string() }) })
    .parse(JSON.parse(readText('package.json')));
  expect(scripts['check:licences']).toBe('node scripts/licences.js');
});
