/*! DataTables styling integration
 * © SpryMedia Ltd - datatables.net/license
 */
(n=>{var t;"function"==typeof define&&define.amd?define(["datatables.net"],function(e){return n(window,document,e)}):"object"==typeof exports?(t=function(e){e.DataTable||require("datatables.net")(e)},"undefined"==typeof window?module.exports=function(e){return e=e||window,t(e),n(0,e.document,e.DataTable)}:(t(window),module.exports=n(window,window.document,window.DataTable))):n(window,document,window.DataTable)})(function(e,n,t){return t});