import { CliProblem, EXIT } from '../../cli-problem.ts';

const WORD = /\s*((?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+)/sy;
const PART = /\\(?<escaped>.)|"(?<double>(?:[^"\\]|\\.)*)"|'(?<single>[^']*)'|(?<plain>[^\s"'\\]+)/gs;

/** Splits a command into its words, with quotes and backslashes as in a shell, and nothing else of one. */
export function splitCommand(command: string): [string, ...string[]] {
  const words: string[] = [];
  WORD.lastIndex = 0;
  let end = 0;
  for (let found = WORD.exec(command); found !== null; found = WORD.exec(command)) {
    words.push(unquote(found[1] ?? ''));
    end = WORD.lastIndex;
  }
  const [program, ...args] = words;
  if (program === undefined || command.slice(end).trim() !== '') {
    throw new CliProblem(`The command ${command} cannot be read: is a quote missing?`, { exitCode: EXIT.usage });
  }
  return [program, ...args];
}

function unquote(word: string): string {
  const parts = [...word.matchAll(PART)].map(({ groups = {} }) => {
    const { escaped, double, single, plain } = groups;
    return escaped ?? double?.replace(/\\(["\\$`])/g, '$1') ?? single ?? plain ?? '';
  });
  return parts.join('');
}
