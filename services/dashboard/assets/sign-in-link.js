// Uses the link up at once. Previews of links run no scripts, so they use nothing up.
document.querySelector('form')?.requestSubmit();
