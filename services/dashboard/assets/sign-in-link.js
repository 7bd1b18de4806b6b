// Uses the link up at once, in browsers that are not signed in: others get the form without this script. Previews of links run no scripts, so they use nothing up.
document.querySelector('form')?.requestSubmit();
