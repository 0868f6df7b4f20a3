// The button: it opens the page that reads the tab and sends it. The press lets the
// extension read that one tab, until it leads elsewhere.
chrome.action.onClicked.addListener(tab =>
  chrome.tabs.create({url: `send.html?tab=${tab.id}`, index: tab.index + 1, openerTabId: tab.id}));

// The first thing that a user sees is what will be sent, and to whom.
chrome.runtime.onInstalled.addListener(({reason}) => {
  if (reason === "install") chrome.runtime.openOptionsPage();
});
