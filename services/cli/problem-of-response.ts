import { z } from 'zod';
import { CliProblem } from './cli-problem.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';

const problemSchema = z.object({ code: z.string().optional(), detail: z.string().optional(), title: z.string().optional() });

const EXIT_BY_STATUS: Readonly<Record<number, ExitCode>> = {
  400: EXIT.usage,
  401: EXIT.usage,
  403: EXIT.usage,
  413: EXIT.usage,
  422: EXIT.usage,
  502: EXIT.unreachable,
  503: EXIT.unreachable,
  504: EXIT.unreachable,
};

/** What a refusing answer says, in its own words where it has some; answers that are no problem+json come from a proxy or a stranger. */
export async function problemOfResponse(response: Response): Promise<CliProblem> {
  const text = await response.text().catch(() => '');
  const { code, detail, title } = readProblem(text);
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  const later = Number.isFinite(seconds) ? ` Try again in ${seconds} s.` : '';
  const said = detail ?? title ?? `${response.url} answered ${response.status} ${response.statusText}`.trim();
  return new CliProblem(`${said}${later && !/[.!?]$/.test(said) ? '.' : ''}${later}`, {
    exitCode: EXIT_BY_STATUS[response.status] ?? EXIT.failed,
    code: code ?? `http.${response.status}`,
    ...(later ? { retryAfterMs: seconds * 1000 } : {}),
  });
}

function readProblem(text: string): z.infer<typeof problemSchema> {
  try {
    return problemSchema.parse(JSON.parse(text));
  } catch {
    return {};
  }
}
