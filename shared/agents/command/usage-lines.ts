import type { Readable } from 'node:stream';
import type { AgentContext } from '../../config/index.ts';
import { readUsage } from '../read-agent-answer.ts';

/** What a line of usage on stderr begins with. */
const PREFIX = 'muster-usage ';
/** Characters of a line that are kept; usage has fewer. */
const MAX_LINE = 4096;

/** Reports what a program used, by the lines `muster-usage {"inputTokens":1,"outputTokens":1}` of its stderr, as they come. */
export function reportUsageLines(stderr: Readable, context: Pick<AgentContext, 'reportUsage' | 'log'>): void {
  const decoder = new TextDecoder();
  let line = '';
  stderr.on('data', (piece: Buffer) => {
    const lines = `${line}${decoder.decode(piece, { stream: true })}`.split('\n');
    line = (lines.pop() ?? '').slice(0, MAX_LINE);
    for (const each of lines) reportLine(each, context);
  });
}

function reportLine(line: string, { reportUsage, log }: Pick<AgentContext, 'reportUsage' | 'log'>): void {
  if (!line.startsWith(PREFIX)) return;
  try {
    reportUsage(readUsage(JSON.parse(line.slice(PREFIX.length))));
  } catch (error) {
    log.warn({ event: 'command.usage-unreadable', err: error }, 'a line of usage cannot be read');
  }
}
