import type { Questions } from '../../../src/terminal/prompts.ts';

/**
 * A person who gives these answers, by the beginnings of the questions, and else takes what is suggested.
 *
 * @returns what psd2 asked, which answers it took for wrong, and what it suggested for each question
 */
export function person(answers: Record<string, (string | boolean)[]>) {
  const asked: string[] = [];
  const wrong: string[] = [];
  const suggested: Record<string, unknown> = {};
  const given = Object.entries(answers).map(([beginning, each]) => ({ beginning, left: [...each] }));
  const answerTo = (question: string): string | boolean | undefined => {
    // Nobody answers for ever.
    if (asked.push(question) > 100) throw new Error(`There is no answer to: ${question}`);
    return given
      .find(({ beginning, left }) => question.startsWith(beginning) && left.length > 0)
      ?.left.shift();
  };
  const ask: Questions['ask'] = async (question, { initial = '', check } = {}) => {
    suggested[question] = initial;
    for (;;) {
      const answer = String(answerTo(question) ?? initial);
      try {
        await check?.(answer);
        return answer;
      } catch (error) {
        wrong.push(error instanceof Error ? error.message : String(error));
        // A person who has no other answer leaves.
        if (wrong.length > 20) throw error;
      }
    }
  };
  const operatorsAnswers: Partial<Questions> = {
    ask,
    askPath: ask,
    askSecret: async (question) => String(answerTo(question) ?? ''),
    confirm: async (question, initial = false) => {
      suggested[question] = initial;
      return Boolean(answerTo(question) ?? initial);
    },
    choose: async (question, choices, initial) => {
      suggested[question] = [initial, ...choices.map(({ value, name }) => `${String(value)}: ${name}`)];
      const answer = answerTo(question);
      const chosen = choices.find(({ value }) => value === answer)?.value ?? initial ?? choices[0]?.value;
      if (chosen === undefined) throw new TypeError('There is nothing to choose');
      return chosen;
    },
  };
  return { asked, wrong, suggested, operator: operatorsAnswers };
}
