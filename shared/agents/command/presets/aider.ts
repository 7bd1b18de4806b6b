import type { AgentUsage } from '../../../config/index.ts';
import type { TaskFailure } from '../../../errors/index.ts';
import { noteEvent, type Preset, reportedFailure, type Transcript, type TranscriptEvent, type TranscriptOptions } from './preset.ts';

/** Aider with one message, whose output is text for people. */
export const aider: Preset = {
  program: 'aider',
  options: [
    '--yes-always',
    '--no-pretty',
    '--no-stream',
    '--no-fancy-input',
    '--no-check-update',
    '--no-show-release-notes',
    '--message-file',
    '{promptFile}',
  ],
  signIn: ['HOME', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OPENAI_API_BASE', 'OPENROUTER_API_KEY', 'GEMINI_API_KEY', 'DEEPSEEK_API_KEY'],
  openTranscript,
};

const MODEL = /^(?:Main model|Model): (\S+)/;
/** Lines about itself and about files. */
const NOTE =
  /^(?:Aider v|Main model:|Model:|Weak model:|Editor model:|Git repo:|Repo-map:|Added |Applied edit to |Commit |Creating empty file )/;
const USAGE =
  /^Tokens: (?<sent>[\d.]+k?) sent,(?:.*? (?<hit>[\d.]+k?) cache hit,)?.*? (?<received>[\d.]+k?) received\.(?: Cost: \$(?<cost>[\d.]+) message)?/;

/** It tries again, and answers in the end or does not. */
const REFUSED =
  /^(?:litellm\.\w*RateLimitError\b|The API provider has rate limited you\b|litellm\.\w*Error\b.*\b(?:quota|credit balance|usage limit)\b)/i;

function openTranscript({ zone }: TranscriptOptions): Transcript {
  let model: string | undefined;
  let failure: TaskFailure | undefined;
  return {
    read: (line): TranscriptEvent[] => {
      model = MODEL.exec(line)?.[1] ?? model;
      const usage = readUsage(line, model);
      if (usage !== null) {
        failure = undefined;
        return [{ kind: 'usage', usage }, { kind: 'answered' }];
      }
      if (REFUSED.test(line)) {
        failure = reportedFailure({ message: line, status: 429, zone });
        return [noteEvent(line)];
      }
      return NOTE.test(line) ? [noteEvent(line)] : [{ kind: 'text', text: `${line}\n` }];
    },
    end: () => (failure === undefined ? {} : { failure }),
  };
}

/** Its figures are rounded to thousands and cents. */
function readUsage(line: string, model: string | undefined): AgentUsage | null {
  const { sent, hit, received, cost } = USAGE.exec(line)?.groups ?? {};
  if (sent === undefined || received === undefined) return null;
  return {
    inputTokens: toTokens(sent),
    outputTokens: toTokens(received),
    ...(hit === undefined ? {} : { cachedInputTokens: toTokens(hit) }),
    ...(cost === undefined ? {} : { costMicroUsd: Math.round(Number(cost) * 1e6) }),
    ...(model === undefined ? {} : { model }),
    isEstimated: [sent, received].some((figure) => figure.endsWith('k')),
  };
}

function toTokens(figure: string): number {
  return Math.round(Number.parseFloat(figure) * (figure.endsWith('k') ? 1000 : 1));
}
