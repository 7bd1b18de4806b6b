/** Within code the adapter escapes nothing. */
const CODE = /(```[\s\S]*?(?:```|$)|`[^`\n]+`)/;
const LINK = /(?<!\\)\[((?:\\.|[^\]\\\n])*)\]\(([a-z]+:[^)\s]+)(?: "[^"\n]*")?\)/g;
const BARE_LINK = /(?<!\\)<([a-z]+:[^>\s]+)>/g;
/** A mark that markdown would read, and a backslash before it that says not to. */
const ESCAPE = /\\([!-/:-@[-`{-~])/g;

/**
 * The adapter writes WhatsApp's own marks for bold and the like, and leaves markdown's links and backslashes in between. WhatsApp
 * knows neither: people would see both.
 */
export function whatsappText(rendered: string): string {
  // With the capture, every second part is code.
  return rendered
    .split(CODE)
    .map((part, index) => (index % 2 === 1 ? part : bare(part)))
    .join('');
}

function bare(text: string): string {
  const linked = text.replaceAll(LINK, (_, words: string, address: string) => (words === address ? address : `${words} (${address})`));
  return linked.replaceAll(BARE_LINK, '$1').replaceAll(ESCAPE, '$1');
}
