// Runs in the tab, and returns the page as the user sees it: its text, links and
// pictures' addresses, without what the site runs and without what it knows of the user.
(() => {
  const secret = /csrf|xsrf|token|nonce|session|passw|secret|signature|api[-_]?key|auth[-_.]|^auth$|^sid$|^sig$|jwt/i;
  const removed = {scripts: 0, hidden: 0, values: 0, secrets: 0};
  const page = document.documentElement.cloneNode(true);

  // What the browser does not show is not sent. What a page says of its car to search engines
  // stays: it is text, and runs nothing.
  const unseen = ["script", "meta", "link", "base", "br", "wbr", "option", "optgroup", "source", "col"];
  const isSeen = part => part.checkVisibility({visibilityProperty: true}) || getComputedStyle(part).display === "contents";
  const isShown = part => !part.matches('[hidden], [aria-hidden="true"]') &&
    (isSeen(part) || part.checkVisibility() && [...part.children].some(isShown));
  const copies = [...page.querySelectorAll("body *")];
  [...document.querySelectorAll("body *")].forEach((part, at) => {
    if (unseen.includes(part.localName) || !page.contains(copies[at])) return;
    const shown = isShown(part);
    if (shown && isSeen(part)) return;
    removed.hidden++;
    if (!shown) copies[at].remove();
    else for (const text of [...copies[at].childNodes]) if (text.nodeType === Node.TEXT_NODE) text.remove();
  });

  const drop = (kind, selector) => {
    for (const part of page.querySelectorAll(selector)) {
      part.remove();
      removed[kind]++;
    }
  };
  drop("scripts", 'script:not([type="application/ld+json"]), style, link[rel~="stylesheet"], link[rel~="preload"], link[rel~="modulepreload"]');
  drop("hidden", "template, noscript, iframe, frame, object, embed");
  drop("values", "input[type=password]");

  const comments = document.createTreeWalker(page, NodeFilter.SHOW_COMMENT);
  const found = [];
  while (comments.nextNode()) found.push(comments.currentNode);
  for (const comment of found) comment.remove();
  removed.hidden += found.length;

  const clean = address => address.replace(/([?&;])([^=&;#]*)=[^&;#]*/g, (whole, mark, name) => {
    if (!secret.test(name)) return whole;
    removed.secrets++;
    return `${mark}${name}=`;
  });
  for (const part of page.querySelectorAll("input, option, button, textarea, [contenteditable]")) {
    const typed = part.localName === "textarea" || part.hasAttribute("contenteditable");
    if (typed ? part.textContent : part.getAttribute("value")) removed.values++;
    if (typed) part.textContent = "";
    for (const name of ["value", "checked", "selected"]) part.removeAttribute(name);
  }
  for (const part of page.querySelectorAll("*")) {
    const named = part.getAttribute("name") || part.getAttribute("property") || "";
    if (part.localName === "meta" && secret.test(named)) {
      part.remove();
      removed.secrets++;
      continue;
    }
    for (const name of part.getAttributeNames()) {
      const value = part.getAttribute(name);
      if (name.startsWith("on") || /^\s*(javascript|data):/i.test(value)) {
        part.removeAttribute(name);
        removed.scripts++;
      } else if (secret.test(name)) {
        part.removeAttribute(name);
        removed.secrets++;
      } else if (value.includes("=")) {
        const cleaned = clean(value);
        if (cleaned !== value) part.setAttribute(name, cleaned);
      }
    }
  }
  return {url: clean(location.origin + location.pathname + location.search), html: `<!DOCTYPE html>\n${page.outerHTML}`, removed};
})();
