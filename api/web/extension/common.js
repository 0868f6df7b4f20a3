// What both pages of the extension use.

// say returns a text in the language of the browser.
export const say = (key, ...values) => chrome.i18n.getMessage(key, values.map(String));

// fill writes the texts of a page.
export const fill = () => {
  document.documentElement.lang = chrome.i18n.getMessage("language");
  document.title = say(document.body.dataset.title);
  for (const part of document.querySelectorAll("[data-say]")) part.textContent = say(part.dataset.say);
};

// originOf returns the address of a server without a path, or "" for what is none.
export const originOf = text => {
  try {
    const {protocol, origin} = new URL(text.trim());
    return protocol === "https:" || protocol === "http:" ? origin : "";
  } catch {
    return "";
  }
};

// accessTo is the permission for a server. Firefox allows no port in it.
export const accessTo = server => {
  const {protocol, hostname} = new URL(server);
  return {origins: [`${protocol}//${hostname}/*`]};
};

// sizeOf writes a number of bytes.
export const sizeOf = bytes => `${Math.ceil(bytes / 1024).toLocaleString("en")} KB`;

// list writes what was removed from a page.
export const list = (into, removed) => {
  into.replaceChildren(...["scripts", "hidden", "values", "secrets"].map(kind => {
    const row = document.createElement("li");
    row.textContent = `${say(`removed_${kind}`)}: ${removed[kind]}`;
    return row;
  }));
};
