// Lists whose code is in dist/, and its licences. The list comes from what esbuild bundled, so it is complete.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import parse from 'spdx-expression-parse';

/** Licences (SPDX ids) that require attribution at most. */
const PERMISSIVE = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
  'Zlib',
]);

/** The folder of the package that a bundled file is from. */
const folderOf = (path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));
/** The same order in every locale. */
const byId = (a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/**
 * The packages that esbuild bundled, and those that npm installs with psd2 if it can (`optional`).
 *
 * @returns `{ id, name, version, licence, integrity, folder, direct, optional, uses }` of each, sorted by `id` (its package
 *   URL); `direct`: psd2 itself imports it; `uses`: the ids of the packages that it imports
 */
export function bundledPackages(metafile) {
  const { packages } = readJson('package-lock.json');
  const known = new Map();
  const packageIn = (folder) => {
    const { name, version, license } = readJson(join(folder, 'package.json'));
    const { integrity } = packages[folder] ?? {};
    const id = urlOf(name, version);
    return {
      id,
      name,
      version,
      licence: license,
      integrity,
      folder,
      direct: false,
      optional: false,
      uses: new Set(),
    };
  };
  for (const path of Object.keys(metafile.inputs)) {
    const folder = folderOf(path);
    if (folder !== undefined && !known.has(folder)) known.set(folder, packageIn(folder));
  }
  for (const [path, { imports }] of Object.entries(metafile.inputs)) {
    const from = known.get(folderOf(path));
    for (const to of imports.map((each) => known.get(folderOf(each.path)))) {
      if (to && !from) to.direct = true;
      else if (to && from !== to) from.uses.add(to.id);
    }
  }
  // A package that npm installed in two places counts once.
  const all = new Map([...known.values(), ...installedBeside(packages)].map((each) => [each.id, each]));
  return [...all.values()].sort(byId);
}

/** Read from the lock file, since the machine decides which of them npm installs. */
function installedBeside(packages) {
  const found = new Map();
  const add = (name, direct) => {
    const folder = `node_modules/${name}`;
    const { version, license, integrity, optionalDependencies = {} } = packages[folder];
    const uses = new Set();
    const id = urlOf(name, version);
    found.set(folder, {
      id,
      name,
      version,
      licence: license,
      integrity,
      folder,
      direct,
      optional: true,
      uses,
    });
    for (const each of Object.keys(optionalDependencies)) uses.add(add(each, false));
    return id;
  };
  for (const name of Object.keys(packages[''].optionalDependencies ?? {})) add(name, true);
  return found.values();
}

/** A package URL: https://github.com/package-url/purl-spec */
function urlOf(name, version) {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** The packages whose licence is unknown or not permissive, as `name version: licence`. */
export function refusedLicences(packages) {
  return packages
    .filter(({ licence }) => choicesOf(licence).every((choice) => !choice.every((id) => PERMISSIVE.has(id))))
    .map(({ name, version, licence }) => `${name} ${version}: ${licence ?? 'no licence'}`);
}

/**
 * The choices that an SPDX licence expression offers. Each choice is the list of licences that apply together. Empty if the
 * text is not an SPDX expression.
 */
function choicesOf(licence) {
  const choices = (node) => {
    if (node.license !== undefined) return [[node.exception ? `${node.license} WITH` : node.license]];
    const [left, right] = [choices(node.left), choices(node.right)];
    return node.conjunction === 'or'
      ? [...left, ...right]
      : left.flatMap((one) => right.map((other) => [...one, ...other]));
  };
  try {
    return choices(parse(expressionOf(licence)));
  } catch {
    return [];
  }
}

/** Some packages write `MIT or MPL-2.0`. SPDX requires `OR`. */
function expressionOf(licence) {
  return String(licence).replace(/ (or|and|with) /g, (word) => word.toUpperCase());
}

/**
 * The text of THIRD-PARTY-NOTICES.txt: the licence texts of the bundled packages.
 *
 * @throws Error if a package has no licence text: only this text names the authors, and they must be named
 */
export function notices(packages) {
  const parts = packages
    .filter(({ optional }) => !optional)
    .map(({ name, version, licence, folder }) => {
      const files = licenceFiles(folder, licence).map((file) => readFileSync(join(folder, file), 'utf8'));
      const texts = files.length > 0 ? files : [...licenceInReadme(folder), ...licenceHere(name)];
      if (texts.length === 0) throw new Error(`${name} ${version} (${licence}) has no licence text`);
      const text = texts.map((each) => each.replaceAll('\r\n', '\n').trim()).join('\n\n');
      return `${'-'.repeat(80)}\n${name} ${version}, ${expressionOf(licence)}\n\n${text}\n`;
    });
  return `psd2 contains code of the packages below, each under its own licence.\n\n${parts.join('\n')}`;
}

/** Reads the licence from the README, from its heading to the end. Some packages have it nowhere else. */
function licenceInReadme(folder) {
  const readme = readdirSync(folder).find((file) => /^readme\.md$/i.test(file));
  const text = readme && readFileSync(join(folder, readme), 'utf8');
  const section = /^#+ *licen[cs]e\b[^\n]*\n([\s\S]*Copyright[\s\S]*)/im.exec(text ?? '');
  return section?.[1] ? [section[1]] : [];
}

/** The licence of a package whose authors did not pack it. The file has the text of their repository. */
function licenceHere(name) {
  const file = join('scripts/licence-texts', `${name}.txt`);
  return existsSync(file) ? [readFileSync(file, 'utf8')] : [];
}

/** The licence files, without those of a licence that psd2 does not choose (`LICENSE.MPL-2.0` beside `LICENSE.MIT`). */
function licenceFiles(folder, licence) {
  const choices = choicesOf(licence);
  const chosen = choices.find((choice) => choice.every((id) => PERMISSIVE.has(id))) ?? [];
  const others = choices.flat().filter((id) => !chosen.includes(id));
  return readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|copyright|notice)/i.test(file))
    .filter((file) => !others.some((id) => file.includes(id)))
    .sort();
}

/** The software bill of materials, as CycloneDX 1.6 JSON. It has no time or serial number: equal packages give equal bytes. */
export function billOfMaterials(packages) {
  const { name, version, description, license } = readJson('package.json');
  const id = urlOf(name, version);
  const bill = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      lifecycles: [{ phase: 'build' }],
      component: {
        type: 'application',
        'bom-ref': id,
        name,
        version,
        description,
        licenses: licencesOf(license),
        purl: id,
      },
    },
    components: packages.map(({ id, name, version, licence, integrity, optional }) => ({
      type: 'library',
      'bom-ref': id,
      name,
      version,
      scope: optional ? 'optional' : 'required',
      ...(integrity && { hashes: [hashOf(integrity)] }),
      licenses: licencesOf(licence),
      purl: id,
    })),
    dependencies: [
      { ref: id, dependsOn: packages.filter(({ direct }) => direct).map((each) => each.id) },
      ...packages.map(({ id, uses }) => ({ ref: id, dependsOn: [...uses].sort() })),
    ],
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}

function licencesOf(licence) {
  const expression = expressionOf(licence);
  return /[ (]/.test(expression) ? [{ expression }] : [{ license: { id: expression } }];
}

/** The hash of the package's archive, from the `integrity` in package-lock.json (https://www.w3.org/TR/SRI/). */
function hashOf(integrity) {
  const [, bits, digest] = /^sha(\d+)-(\S+)$/.exec(integrity) ?? [];
  return { alg: `SHA-${bits}`, content: Buffer.from(digest, 'base64').toString('hex') };
}
