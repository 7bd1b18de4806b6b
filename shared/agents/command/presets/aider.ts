import type { AgentUsage } from '../../../config/index.ts';
import { noteEvent, type Preset, type Transcript, type TranscriptEvent } from './preset.ts';

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
  openTranscript,
};

const MODEL = /^(?:Main model|Model): (\S+)/;
/** Lines about itself and about files. */
const NOTE =
  /^(?:Aider v|Main model:|Model:|Weak model:|Editor model:|Git repo:|Repo-map:|Added |Applied edit to |Commit |Creating empty file )/;
const USAGE =
  /^Tokens: (?<sent>[\d.]+k?) sent,(?:.*? (?<hit>[\d.]+k?) cache hit,)?.*? (?<received>[\d.]+k?) received\.(?: Cost: \$(?<cost>[\d.]+) message)?/;

function openTranscript(): Transcript {
  let model: string | undefined;
  return {
    read: (line): TranscriptEvent[] => {
      model = MODEL.exec(line)?.[1] ?? model;
      const usage = readUsage(line, model);
      if (usage !== null) return [{ kind: 'usage', usage }];
      return NOTE.test(line) ? [noteEvent(line)] : [{ kind: 'text', text: `${line}\n` }];
    },
    end: () => ({}),
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
