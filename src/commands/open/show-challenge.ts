import type { ScaChallenge, ScaMethod } from '../../domain/embedded.ts';
import { quoted } from '../../terminal/challenge/bank-text.ts';
import type { Context } from '../context.ts';

/**
 * Shows what the customer needs for a TAN. Everything in it is the bank's.
 *
 * @returns what is on the disk until the step ends. Undefined: nothing
 */
export async function showChallenge(
  context: Context,
  { information, data = [], image, method }: ScaChallenge & { method?: ScaMethod },
): Promise<{ remove(): void } | undefined> {
  const { terminal } = context;
  const codes = data.filter((text) => isFlickerCode(text, method));
  const words = [information, ...data.filter((text) => !codes.includes(text))].filter(Boolean).join('<br>');
  if (words !== '') terminal.warn(quoted(words, terminal.size.columns));
  // By hand, the words have all that is typed into the reader.
  if (codes.length > 0 && (words === '' || isOptical(method)))
    terminal.warn(
      'The bank has sent a code that flickers for a reader at the screen. psd2 does not show it: type what the bank says into the reader by hand, or authorise with another method.',
    );
  return image === undefined ? undefined : showImage(context, image);
}

/** Whether a reader is held to the screen: psd2 shows it nothing. */
export function isOptical({ type, name = '', explanation = '' }: Partial<ScaMethod> = {}): boolean {
  return type === 'CHIP_OTP' && /optic|optisch|flicker|usb|bluetooth/i.test(`${name} ${explanation}`);
}

/** A code for an optical reader (HHD). As text it helps nobody, and looks like something to type. */
function isFlickerCode(text: string, method: ScaMethod | undefined): boolean {
  const isForReader = method === undefined || /chip/i.test(method.type) || /hhd/i.test(method.version ?? '');
  return isForReader && /^[0-9A-F,]{14,}$/i.test(text.replace(/\s/g, ''));
}

/** Draws an image where the terminal can, else offers to open it. */
async function showImage({ env, terminal }: Context, image: string): Promise<{ remove(): void } | undefined> {
  const { kittyPicture, readPicture, showsPictures, twoColours } = await import(
    '../../terminal/challenge/picture.ts'
  );
  const picture = readPicture(image);
  if ('fault' in picture) {
    terminal.warn(`The bank has sent a picture that psd2 does not show: ${picture.fault}.`);
    return undefined;
  }
  if (showsPictures(env)) {
    terminal.warn(kittyPicture(picture.png));
    return undefined;
  }
  const dots = twoColours(picture);
  const { drawHalfBlocks, fitsTerminal } = await import('../../terminal/half-blocks.ts');
  if (dots && fitsTerminal({ width: dots[0]?.length ?? 0, height: dots.length }, terminal.size)) {
    terminal.warn(drawHalfBlocks(dots, terminal.colour));
    return undefined;
  }
  const { savePicture } = await import('../../terminal/challenge/saved-picture.ts');
  const saved = savePicture(env, picture.png);
  terminal.warn(`The bank has sent a picture. Until this step ends it is here: ${saved.path}`);
  try {
    if (await terminal.confirm('Open it with the program that this computer has for pictures?', true)) {
      const { openFile } = await import('../../terminal/browser.ts');
      if (!(await openFile(saved.path))) terminal.warn('No program could be started. Open it by hand.');
    }
  } catch (error) {
    // Ctrl-C: nobody else ends the step.
    saved.remove();
    throw error;
  }
  return saved;
}
