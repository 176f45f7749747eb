import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { didYouMean } from '../did-you-mean.ts';
import { Psd2Error } from '../errors.ts';
import { isPlatform, platformNames, readPlatform } from './platforms.ts';
import { parseJson, readText } from './read-json.ts';
import { isObject } from './values.ts';

/** A bank file as it was read, not yet checked. */
export interface Layer {
  /** Name of the platform, or path of the file. */
  where: string;
  content: unknown;
  /** The text of the file; undefined for a platform. */
  text: string | undefined;
  /** What the file of a platform says beside its values. */
  about?: unknown;
}

/** A place from which a bank file can be read. */
interface Place {
  where: string;
  /** The folder in which a file of `extends` lies; undefined for a platform. */
  folder: string | undefined;
}

/**
 * Reads a bank file and those that it extends, one after the other: the file itself first.
 *
 * @param nameOrPath name of a platform, or path of a file. A platform goes first
 * @throws Psd2Error `config`. If the error is about what a file extends, the generator has already given that file
 */
export async function* layersOf(nameOrPath: string): AsyncGenerator<Layer> {
  const seen = new Set<string>();
  let place: Place | undefined = isPlatform(nameOrPath)
    ? { where: nameOrPath, folder: undefined }
    : { where: nameOrPath, folder: dirname(nameOrPath) };
  while (place) {
    const read = await readLayer(place, seen.size === 0);
    const { content } = read;
    const id = place.folder === undefined ? place.where : realPathOf(place.where);
    if (seen.has(id))
      throw new Psd2Error('config', `The bank files extend each other in a circle, back to ${place.where}`);
    seen.add(id);
    yield { where: place.where, ...read };
    place =
      isObject(content) && typeof content.extends === 'string' ? extended(content.extends, place) : undefined;
  }
}

async function readLayer({ where, folder }: Place, isFirst: boolean): Promise<Omit<Layer, 'where'>> {
  if (folder === undefined) return { ...readPlatform(where), text: undefined };
  const text = await readText(where);
  if (text !== undefined) return { content: await parseJson(text, where), text };
  const name = basename(where);
  const near = didYouMean(name, platformNames()).trim();
  const meant = near === '' ? '' : `. ${near}`;
  if (isFirst)
    throw new Psd2Error('usage', `No bank file or platform is called ${JSON.stringify(where)}`, {
      hint: [near, 'See the platforms with: psd2 bank list'].filter(Boolean).join(' '),
    });
  throw new Psd2Error(
    'config',
    `extends names neither a platform that comes with psd2 nor a file beside this one: ${name}${meant}`,
  );
}

/** What a bank file extends. A file must lie beside it, so that a bank file from elsewhere cannot make psd2 read other folders. */
function extended(name: string, { folder }: Place): Place {
  if (isPlatform(name)) return { where: name, folder: undefined };
  const file = name.replace(/^\.\//, '');
  if (/[/\\]/.test(file) || file === '..' || file === '.')
    throw new Psd2Error(
      'config',
      'extends must name a platform that comes with psd2, or a file in the same folder',
    );
  if (folder === undefined) throw new Psd2Error('config', `There is no platform ${name}`);
  return { where: join(folder, file), folder };
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
