import {
  createPrompt,
  isBackspaceKey,
  isEnterKey,
  isTabKey,
  makeTheme,
  useKeypress,
  usePrefix,
  useState,
} from '@inquirer/core';
import { completePath } from './complete-path.ts';

/** The maximum number of names to choose from. */
const MAX_CHOICES = 24;

interface PathQuestion {
  message: string;
  /** The answer if the operator only presses Enter; empty for none. */
  initial: string;
  /** What is wrong with an answer, or true. */
  validate: (answer: string) => true | string | Promise<true | string>;
}

/** Asks for the path of a file, like inquirer's input prompt, but Tab completes names. */
export const pathPrompt = createPrompt<string, PathQuestion>(({ message, initial, validate }, done) => {
  const theme = makeTheme({});
  const [status, setStatus] = useState<'idle' | 'loading' | 'done'>('idle');
  const [offered, setOffered] = useState(initial);
  const [value, setValue] = useState('');
  const [below, setBelow] = useState('');
  const prefix = usePrefix({ status, theme });

  useKeypress(async (key, line) => {
    if (status !== 'idle') return;
    if (isEnterKey(key)) {
      const answer = value || offered;
      setStatus('loading');
      const verdict = await validate(answer);
      if (verdict === true) {
        setValue(answer);
        setBelow('');
        setStatus('done');
        done(answer);
        return;
      }
      // Enter has emptied the line.
      line.write(value);
      setBelow(theme.style.error(verdict));
      setStatus('idle');
    } else if (isTabKey(key)) {
      const { text, choices } =
        value === '' && offered ? { text: offered, choices: [] } : completePath(value);
      // The line contains the tab.
      line.clearLine(0);
      line.write(text);
      setOffered('');
      setValue(text);
      const more = choices.length > MAX_CHOICES ? ` … ${choices.length - MAX_CHOICES} more` : '';
      setBelow(theme.style.help(`${choices.slice(0, MAX_CHOICES).join('  ')}${more}`));
    } else if (isBackspaceKey(key) && value === '') setOffered('');
    else {
      setValue(line.line);
      setBelow('');
    }
  });

  const shown = status === 'done' ? theme.style.answer(value) : value;
  const hint = offered && status !== 'done' && value === '' ? theme.style.defaultAnswer(offered) : undefined;
  return [[prefix, theme.style.message(message, status), hint, shown].filter(Boolean).join(' '), below];
});
